package observe

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Hash asks every member's etcd for its hash of all that it holds at one revision, and
// records the answers. The revision is one that a majority has, so a member that is behind
// is given the time to catch up (HashAttempts). An etcd that may not be read records
// nothing, and what cannot be asked leaves a gap.
//
// A member that does not answer in time has an error in the event.
//
// What it misses: a difference that lies in keys which were compacted away, and one that
// lasted only between two calls.
func (r *Etcd) Hash(ctx context.Context) {
	if r.unread != "" {
		return
	}
	from := r.recorder.Now()
	revision, err := r.Revision(ctx)
	if err != nil {
		r.recorder.Record(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: history.SourceEtcdHash, Message: "what each member's etcd holds was not compared: " + shorten(err.Error())}})
		return
	}
	hash := history.EtcdHash{Revision: revision}
	for range HashRounds {
		hash.Members = r.hashAll(ctx, revision)
		if sameCompaction(hash.Members) || !r.again(ctx) {
			break // members compact their history one after the other, within moments
		}
	}
	r.recorder.Record(history.Event{Kind: history.KindEtcdHash, From: from, EtcdHash: &hash})
}

// again waits until it is time for another attempt; it is false when the context ended.
func (r *Etcd) again(ctx context.Context) bool {
	pause(ctx, r.clock, HashRetry)
	return ctx.Err() == nil
}

func sameCompaction(members []history.EtcdMemberHash) bool {
	compacted := map[int64]bool{}
	for _, m := range members {
		if m.Error == "" {
			compacted[m.Compacted] = true
		}
	}
	return len(compacted) <= 1
}

func (r *Etcd) hashAll(ctx context.Context, revision int64) []history.EtcdMemberHash {
	answers := make([]history.EtcdMemberHash, len(r.members))
	var asking sync.WaitGroup
	for i, member := range r.members {
		asking.Go(func() {
			for range HashAttempts {
				answers[i] = history.EtcdMemberHash{Member: member}
				err := r.hashOf(ctx, revision, &answers[i])
				if err == nil {
					return
				}
				answers[i] = history.EtcdMemberHash{Member: member, Error: shorten(err.Error())}
				if !errors.Is(err, rpctypes.ErrFutureRev) || !r.again(ctx) {
					return
				}
			}
		})
	}
	asking.Wait()
	return answers
}

func (r *Etcd) hashOf(ctx context.Context, revision int64, into *history.EtcdMemberHash) error {
	client, err := r.client(into.Member)
	if err != nil {
		return err
	}
	endpoints := client.Endpoints()
	if len(endpoints) != 1 {
		return errors.New("its address is not known")
	}
	ctx, cancel := context.WithTimeout(ctx, HashTimeout)
	defer cancel()
	answer, err := client.HashKV(ctx, endpoints[0], revision)
	if err != nil {
		return err
	}
	into.Hash, into.Compacted, into.Current = strconv.FormatUint(uint64(answer.Hash), 16), answer.CompactRevision, answer.Header.Revision
	return nil
}
