package scenario

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// releasesUsed returns all releases, oldest first, that a member can have while the
// scenario is played, if the members begin with those of start. It follows the steps
// without a cluster: a selector that means the leader could select any member, so a member
// can have several releases from then on. A step that needs a release that does not exist
// is an error. releasesUsed skips steps that are left out.
func (s *Scenario) releasesUsed(members []string, start map[string]string, known []string, leftOut map[int]string) ([]string, error) {
	used := map[string]bool{}
	possible := map[string][]string{}
	for _, member := range members {
		began := release.Binary(start[member])
		possible[member] = []string{began}
		used[began] = true
	}
	for i := range s.Steps {
		if _, left := leftOut[i+1]; left {
			continue
		}
		action, name := s.Steps[i].Name(), releaseOf(s.Steps[i].Action)
		if name == "" {
			continue
		}
		for _, selector := range selectorsOf(s.Steps[i].Action) {
			sure := selector != selectLeader && selector != selectFollowers
			hit := members
			if sure {
				var err error
				if hit, err = selectMembers(selector, members, nil); err != nil {
					return nil, &releaseError{i + 1, action, err}
				}
			}
			for _, member := range hit {
				next, err := releasesAfter(name, possible[member], release.Binary(start[member]), known)
				if err != nil && sure {
					return nil, &releaseError{i + 1, action, err}
				}
				for _, one := range next {
					used[one] = true
				}
				if !sure {
					next = append(next, possible[member]...)
				}
				slices.Sort(next)
				possible[member] = slices.Compact(next)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(known), func(one string) bool { return !used[one] }), nil
}

// releasesAfter are those that a member can have after a step, of each that it
// can have before; it is an error if there is none.
func releasesAfter(name string, before []string, start string, known []string) (after []string, err error) {
	for _, current := range before {
		found, err := releaseFor(name, current, start, known)
		if err != nil {
			if len(before) == 1 {
				return nil, err
			}
			continue
		}
		after = append(after, found)
	}
	if len(after) == 0 {
		return nil, fmt.Errorf("there is no release %s for any of %v", name, before)
	}
	return after, nil
}

// releaseError is that a step, counted from 1, needs a release that there is not.
type releaseError struct {
	step   int
	action string
	err    error
}

// Error implements error.
func (e *releaseError) Error() string {
	return fmt.Sprintf("step %d (%s): %v", e.step, e.action, e.err)
}

// Unwrap gives the reason.
func (e *releaseError) Unwrap() error { return e.err }

// lackReleases adds to the steps that are left out those that need a release which there is
// not then: the others are played with what there is.
func (s *Scenario) lackReleases(members []string, start map[string]string, known []string, leftOut map[int]string) {
	var missing *releaseError
	for {
		if _, err := s.releasesUsed(members, start, known, leftOut); !errors.As(err, &missing) {
			return
		}
		leftOut[missing.step] = missing.err.Error()
	}
}
