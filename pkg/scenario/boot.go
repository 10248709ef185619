package scenario

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Boot starts components, or whole members, that a stop step has stopped.
type Boot struct {
	Target `yaml:",inline"`
}

var _ = register("boot", func() Action { return &Boot{} }, targetFields, anywhere)

func (s *Boot) play(ctx context.Context, r *Runner, at target) error {
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
