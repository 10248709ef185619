package scenario

import (
	"context"
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Boot starts components, or whole members, that a stop step has stopped. Of the members that
// it selects it leaves alone those that run.
type Boot struct {
	Target `yaml:",inline"`
}

var _ = register("boot", func() Action { return &Boot{} }, targetFields, anywhere)

func (s *Boot) lacking(r *Runner) string {
	for at := range r.stopped {
		if at.component == cluster.Component(s.Component) {
			return ""
		}
	}
	return "an earlier step did not come to stop what it starts"
}

// play starts those of the members that are stopped: a selector such as @leader means another
// member once the leader is stopped, so that @all starts it again.
func (s *Boot) play(ctx context.Context, r *Runner, at target) error {
	at.members = slices.DeleteFunc(slices.Clone(at.members), func(member string) bool {
		return !r.stopped[place{member, cluster.Component(s.Component)}]
	})
	if len(at.members) == 0 {
		return errors.New("no earlier step has stopped what it is to start; name the member and the component of a stop step")
	}
	for _, member := range at.members {
		delete(r.stopped, place{member, cluster.Component(s.Component)})
	}
	if s.Component == "" {
		releases := map[string]string{}
		for _, member := range at.members {
			releases[member] = r.cluster.Release(member)
		}
		return r.cluster.StartMembers(ctx, releases)
	}
	return each(at.members, func(member string) error {
		return r.cluster.StartComponent(ctx, member, cluster.Component(s.Component))
	})
}
