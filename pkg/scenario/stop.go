package scenario

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Stop stops components, or whole members.
type Stop struct {
	Target `yaml:",inline"`
}

var _ = register("stop", func() Action { return &Stop{} }, targetFields, anywhere)

func (s *Stop) play(ctx context.Context, r *Runner, at target) error {
	for _, member := range at.members {
		r.stopped[place{member, cluster.Component(s.Component)}] = true
	}
	return each(at.members, func(member string) error {
		if s.Component == "" {
			return r.cluster.StopMember(ctx, member)
		}
		return r.cluster.StopComponent(ctx, member, cluster.Component(s.Component))
	})
}
