package observe

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

// What is compacted is recorded: others are told to begin again, and the recorder goes on.
func TestEtcdCompact_ForgetsWhatIsRecordedAlone(t *testing.T) {
	here := etcdtest.Start(t)
	m := newMemory()
	r := NewEtcd([]string{"gone", "here"}, func(member string) (clientv3.Config, error) {
		if member == "gone" {
			return clientv3.Config{}, errors.New("not there")
		}
		return here, nil
	}, m, clock.RealClock{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer recording(ctx, cancel, r)()
	client, err := r.client("here")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		stored, err := client.Put(ctx, "/registry/configmaps/n/a", "{}")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WaitFor(ctx, stored.Header.Revision); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second request says that it is done
			if revision, err := r.Compact(ctx); err != nil || revision < stored.Header.Revision {
				t.Fatalf("compacted up to %d: %v", revision, err)
			}
		}
		if _, err := client.Get(ctx, "/registry/configmaps/n/a", clientv3.WithRev(stored.Header.Revision-1)); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("a revision of before can be read: %v", err)
		}
	}
	if told, gaps := len(m.of(history.KindStored)), len(m.of(history.KindRecorderMissed)); told != 3 || gaps != 0 {
		t.Errorf("%d changes and %d gaps are recorded", told, gaps)
	}
}
