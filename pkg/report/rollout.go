package report

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// Rollout is the way of the members through releases, as far as the control plane
// was held and looked at on it.
type Rollout struct {
	// Upgraded, RolledBack and Again are whether a member was seen to go up, to go
	// down after that, and up once more.
	Upgraded, RolledBack, Again bool
	// Path is the way of the member that went furthest.
	Path []string
	// Mixed are the states in which members ran different releases.
	Mixed []string
}

// Rollout of the run, from the states in which the control plane was held.
func (r *ConformanceReport) Rollout() Rollout {
	var out Rollout
	for _, m := range r.Target.Members {
		path := []string{m.Release}
		for _, s := range r.States {
			if release, ok := s.Releases[m.Name]; ok && release != path[len(path)-1] {
				path = append(path, release)
			}
		}
		up, down, again := walked(path)
		out.Upgraded, out.RolledBack, out.Again = out.Upgraded || up, out.RolledBack || down, out.Again || again
		if len(path) > len(out.Path) {
			out.Path = path
		}
	}
	for _, s := range r.States {
		if history.Mixed(s.Releases) {
			out.Mixed = append(out.Mixed, s.Name)
		}
	}
	return out
}

// walked is whether a way goes up, down after that, and up again after that.
func walked(path []string) (up, down, again bool) {
	for i := 1; i < len(path); i++ {
		from, to := path[i-1], path[i]
		if !release.Valid(from) || !release.Valid(to) {
			continue // whichever of the two is the later one cannot be told
		}
		switch rises := release.Compare(from, to) < 0; {
		case rises && down:
			again = true
		case rises:
			up = true
		case up && release.Compare(to, from) < 0:
			down = true
		}
	}
	return up, down, again
}

// arrows joins the releases of a way.
func arrows(path []string) string { return strings.Join(path, " → ") }
