package observe

import (
	"context"
	"errors"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Health asks every member's etcd how it is, and records the answers. They are
// asked twice: how far the leader is must be known before it can be said that
// the others have caught up, since under load it is always a little ahead.
func (r *Etcd) Health(ctx context.Context) history.EtcdHealth {
	health := history.EtcdHealth{Target: leaderApplied(r.askAll(ctx))}
	from := r.recorder.Now()
	health.Members = r.askAll(ctx)
	r.recorder.Record(history.Event{Kind: history.KindEtcdHealth, From: from, EtcdHealth: &health})
	return health
}

func (r *Etcd) askAll(ctx context.Context) []history.EtcdMember {
	answers := make([]history.EtcdMember, len(r.members))
	var asking sync.WaitGroup
	for i, member := range r.members {
		asking.Go(func() {
			answers[i] = history.EtcdMember{Member: member}
			if err := r.askHealth(ctx, &answers[i]); err != nil {
				answers[i] = history.EtcdMember{Member: member, Error: err.Error()}
			}
		})
	}
	asking.Wait()
	return answers
}

// askHealth asks one member's etcd, which answers from what itself knows.
func (r *Etcd) askHealth(ctx context.Context, into *history.EtcdMember) error {
	client, err := r.client(into.Member)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, EtcdReadTimeout)
	defer cancel()
	endpoints := client.Endpoints()
	if len(endpoints) != 1 {
		return errors.New("its address is not known")
	}
	status, err := client.Status(ctx, endpoints[0])
	if err != nil {
		return err
	}
	list, err := client.MemberList(ctx, clientv3.WithSerializable())
	if err != nil {
		return err
	}
	for _, listed := range list.Members {
		if !listed.IsLearner {
			into.Voters++
		}
	}
	into.Cluster, into.ID, into.Leader = etcdID(status.Header.ClusterId), etcdID(status.Header.MemberId), etcdID(status.Leader)
	into.Term, into.Index, into.Applied = status.RaftTerm, status.RaftIndex, status.RaftAppliedIndex
	into.Version, into.Errors = status.Version, status.Errors
	return nil
}

// leaderApplied is how far the leader has applied its log; 0 if none is seen.
func leaderApplied(members []history.EtcdMember) uint64 {
	for _, m := range members {
		if m.ID != "" && m.ID == m.Leader {
			return m.Applied
		}
	}
	return 0
}

// etcdID is how etcd shows its identities; empty for none.
func etcdID(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 16)
}
