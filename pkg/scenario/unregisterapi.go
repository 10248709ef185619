package scenario

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// UnregisterAPI deletes what a RegisterAPI has created.
type UnregisterAPI struct {
	// Member is the member to whose API server the step sends the requests.
	Member  string `yaml:"member"`
	CRD     string `yaml:"crd,omitempty"`
	Group   string `yaml:"group,omitempty"`
	Backend string `yaml:"backend,omitempty"`
}

var _ = register("unregisterAPI", func() Action { return &UnregisterAPI{} }, registry.Fields{
	"member":  oneMember,
	"crd":     registry.AnyText("crates", "lanterns", "lights").In("crd"),
	"group":   registry.AnyText("stores.evenkeel.dev", "lanterns.evenkeel.dev", "lights.evenkeel.dev").In("crd"),
	"backend": registry.Known(namesBackend).In("backend").With(cluster.ReachesHere),
}, anywhere)

func (u *UnregisterAPI) selectors() []string { return []string{u.Member} }

func (u *UnregisterAPI) backend() string       { return u.Backend }
func (u *UnregisterAPI) harmless() bool        { return true }
func (u *UnregisterAPI) check(r *Runner) error { return r.ownsGroup(u.Group) }
func (u *UnregisterAPI) lacking(r *Runner) string {
	return lacking("backend", u.Backend, r.backends[u.Backend] != nil)
}

func (u *UnregisterAPI) play(ctx context.Context, r *Runner, at target) error {
	return r.unregisterAPI(ctx, at.one(), u)
}

func (u *UnregisterAPI) validate() error {
	return errors.Join(missing("member", u.Member), u.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (u *UnregisterAPI) fieldsProblem() error { return definesOne(u.CRD, u.Group, u.Backend) }
