package scenario

import (
	"context"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// compare asks every member that is not stopped on purpose for all that the harness wrote
// (RO-01, RO-06), and every member's etcd for the hash of what it holds (RO-07). The
// answers are recorded, and none of them is an error. It is done at the end of each hold,
// and when the steps and the traffic are over.
//
// Of an external cluster only the objects of the run are read, and where the run writes none,
// the harness asks for hashes only.
func (rs *recorders) compare(ctx context.Context, r *Runner) {
	ctx, cancel := context.WithTimeout(ctx, CompareTimeout)
	defer cancel()
	var asking sync.WaitGroup
	defer asking.Wait()
	asking.Go(func() { rs.etcd.Hash(ctx) })
	if rs.reads == nil {
		return
	}
	turn := r.turn
	for _, member := range rs.members {
		if member.prober.Down() {
			continue
		}
		asking.Go(func() {
			client, err := r.client(member.name)
			if err != nil {
				r.History.Record(history.Event{Kind: history.KindRecorderMissed, Member: member.name, RecorderMissed: &history.RecorderMissed{Source: history.SourceRead, Message: "the member was not asked for what the harness wrote: " + err.Error()}})
				return
			}
			defer client.Close()
			rs.reads.Ask(ctx, client, turn)
		})
	}
}

// visibility writes through one member and reads through the others, all the time (RO-06).
// Every scenario has it, even without traffic: it is one write a second, of a resource that
// has one version only. It does not write in a run without traffic (NoTraffic).
func (rs *recorders) visibility(r *Runner) *observe.Visibility {
	ready := map[string]func() bool{}
	for _, member := range rs.members {
		ready[member.name] = member.prober.Ready
	}
	return observe.NewVisibility(observe.VisibilityOptions{
		Members: r.members(), RunID: r.objectPrefix(), Namespace: r.visibleNamespace(), Allowed: r.allowance.Take,
		Config:   func(member string) (*rest.Config, error) { return r.directConfig(member) },
		Ready:    func(member string) bool { return ready[member]() },
		Next:     rs.tagger.Next,
		Recorder: r.History, Clock: r.Clock,
	})
}

// visibleNamespace is where the visibility recorder writes; empty is the usual namespace.
func (r *Runner) visibleNamespace() string {
	if r.foreign == nil {
		return ""
	}
	return ownName(r.Run)
}
