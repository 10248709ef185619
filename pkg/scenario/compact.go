package scenario

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Compact has etcd forget its history, as API servers do every five minutes. Who lists in pieces, or
// watches from a revision of before, is told to begin again.
type Compact struct{}

var _ = register("compact", func() Action { return &Compact{} }, registry.Fields{}, cluster.ChangesControlPlane, cluster.ReadsEtcd)

func (s *Compact) validate() error { return nil }

func (s *Compact) play(ctx context.Context, r *Runner, _ target) error { return r.compact(ctx) }

// compact compacts etcd up to what is recorded, so that the history lacks nothing.
func (r *Runner) compact(ctx context.Context) error {
	if _, err := r.catchUp(ctx); err != nil {
		return err
	}
	ctx, cancel := r.within(ctx, CompactTimeout, history.AwaitedEtcd, "", "no member's etcd compacted its history")
	defer cancel()
	for {
		from := r.History.Now()
		revision, err := r.recorders.etcd.Compact(ctx)
		if err == nil {
			r.History.Record(history.Event{Kind: history.KindEtcdCompaction, From: from, EtcdCompaction: &history.EtcdCompaction{Revision: revision}})
			return nil
		}
		if late := r.wait(ctx, SettleLook); late != nil {
			return late
		}
	}
}
