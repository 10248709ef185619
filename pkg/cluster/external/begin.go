package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// begins is whether a member runs what the topology says that it begins with.
func (m *member) begins() bool { return m.wanted == "" || release.Is(m.wanted, m.version) }

// keepsFrom says in half a sentence why a member cannot be taken to the release that the topology
// says it begins with; empty where it can.
func (c *external) keepsFrom(m *member) string {
	to, ok := c.named(m.wanted)
	if !ok || m.release == "" {
		return "spec.external.releases must name both: " + strings.Join(c.releases, ", ")
	}
	if !c.allowed {
		return "name what it runs, or allow Evenkeel to take it there with --allow-disruption"
	}
	return c.lacksOperation(cluster.Means(c.way(m.release, to)))
}

// way is the hook that takes a member from one release to another.
func (c *external) way(from, to string) string {
	if slices.Index(c.releases, to) < slices.Index(c.releases, from) {
		return cluster.HookRollback
	}
	return cluster.HookUpgrade
}

// Begin implements cluster.Beginner: it takes the members that run another release than the
// topology says they begin with to that, as a run before may have left them.
func (Provider) Begin(ctx context.Context, topology *cluster.Topology, options cluster.Options, tell func(string)) (err error) {
	if !slices.ContainsFunc(topology.Spec.Members, func(m cluster.MemberSpec) bool { return topology.ReleaseOf(m) != "" }) {
		return nil // they begin with what they run
	}
	options.Observer = func(cluster.Change) {}
	c, err := met(ctx, topology, options)
	if err != nil {
		return err
	}
	defer func() {
		sheltered, cancel := interrupt.Shelter(ctx)
		defer cancel()
		err = errors.Join(err, c.Stop(sheltered))
	}()
	elsewhere := slices.DeleteFunc(slices.Clone(c.members), (*member).begins)
	if len(elsewhere) == 0 {
		return nil
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	for _, m := range elsewhere {
		tell(fmt.Sprintf("%s runs %s, and is taken to %s, with which the run begins", m.name, m.version, m.wanted))
		if err := c.Replace(ctx, m.name, m.wanted); err != nil {
			return err
		}
	}
	return nil
}
