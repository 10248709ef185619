package observe

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

func put(revision, created int64, key, tag string) *clientv3.Event {
	value := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{%q:%q}}}`, WriteAnnotation, tag)
	return &clientv3.Event{Type: clientv3.EventTypePut, Kv: &mvccpb.KeyValue{
		Key: []byte(key), Value: []byte(value), ModRevision: revision, CreateRevision: created,
	}}
}

func deletion(revision int64, key string) *clientv3.Event {
	return &clientv3.Event{Type: clientv3.EventTypeDelete, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision}}
}

// recording has the recorder record until what it returns is called, which waits for its end.
func recording(ctx context.Context, end context.CancelFunc, r *Etcd) (stop func()) {
	running := make(chan struct{})
	go func() {
		defer close(running)
		r.Run(ctx)
	}()
	return func() { end(); <-running }
}

func newRecorder(m *memory) *Etcd { return NewEtcd([]string{"cp1"}, nil, m, clock.RealClock{}) }

func TestEtcdRecordsEachRevisionOnce(t *testing.T) {
	m := newMemory()
	r := newRecorder(m)
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(2, 2, "/registry/a", "cp1/1"), put(3, 3, "/registry/b", "")}})
	// Another member tells part of it again.
	r.told = 0
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(3, 3, "/registry/b", ""), put(4, 2, "/registry/a", "cp1/1"), put(5, 2, "/registry/a", "cp2/9"), deletion(6, "/registry/a")}})
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(7, 7, "/registry/a", "cp2/9")}})

	var got []string
	for _, e := range m.of(history.KindStored) {
		got = append(got, fmt.Sprintf("%d %s %s %s/%d", e.Stored.Revision, e.Stored.Type, e.Stored.Name, e.Stored.Writer, e.Stored.Write))
	}
	want := []string{
		"2 put x cp1/1", "3 put x /0",
		"4 put x /0", // the tag is a leftover: another client wrote this
		"5 put x cp2/9", "6 delete x /0",
		"7 put x cp2/9", // a new object
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("recorded\n%q\nwant\n%q", got, want)
	}
}

func TestEtcdReportsWhatWasCompacted(t *testing.T) {
	m := newMemory()
	r := newRecorder(m)
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(2, 2, "/registry/a", "")}})
	if r.take(clientv3.WatchResponse{CompactRevision: 10, Canceled: true}) {
		t.Error("the watch goes on")
	}
	gaps := m.of(history.KindRecorderMissed)
	if len(gaps) != 1 || gaps[0].RecorderMissed.Source != "etcd" || r.next != 10 {
		t.Errorf("gaps %v, next %d", gaps, r.next)
	}
}

func TestEtcdWaitsUntilARevisionIsRecorded(t *testing.T) {
	r := newRecorder(newMemory())
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() { waited <- r.WaitFor(ctx, 5) }()
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(3, 3, "/registry/a", "")}})
	// A change elsewhere in etcd is never told; the progress is.
	r.take(clientv3.WatchResponse{Header: progressHeader(5)})
	if err := <-waited; err != nil {
		t.Error(err)
	}
	go func() { waited <- r.WaitFor(ctx, 6) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func progressHeader(revision int64) *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{Revision: revision}
}

// TestEtcdFollowsARealEtcd begins with a member that is not there.
func TestEtcdFollowsARealEtcd(t *testing.T) {
	here := etcdtest.Start(t)
	m := newMemory()
	r := NewEtcd([]string{"gone", "late", "here"}, func(member string) (clientv3.Config, error) {
		switch member {
		case "gone":
			return clientv3.Config{}, errors.New("not there")
		default:
			return here, nil
		}
	}, m, clock.RealClock{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer recording(ctx, cancel, r)()

	client, err := r.client("here")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		key := fmt.Sprintf("/registry/configmaps/n/%d", i%3)
		if i%5 == 4 {
			key = "elsewhere"
		}
		if _, err := client.Put(ctx, key, string(put(0, 0, key, Tag("cp1", int64(i+1))).Kv.Value)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Delete(ctx, "/registry/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	revision, err := r.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WaitFor(ctx, revision); err != nil {
		t.Fatal(err)
	}
	stored := m.of(history.KindStored)
	if len(stored) != 16+3 {
		t.Fatalf("%d changes were recorded", len(stored))
	}
	for i := range stored {
		if i > 0 && stored[i].Stored.Revision < stored[i-1].Stored.Revision {
			t.Errorf("change %d is out of order", i)
		}
	}
}

// A member that is down takes no watch and refuses none: the client tries again and again.
func TestEtcdLeavesAMemberThatIsDown(t *testing.T) {
	configs := map[string]clientv3.Config{"down": {Endpoints: []string{"127.0.0.1:1"}}, "here": etcdtest.Start(t)}
	r := NewEtcd([]string{"down", "here"}, func(member string) (clientv3.Config, error) {
		return configs[member], nil
	}, newMemory(), clock.RealClock{})
	ctx, cancel := context.WithCancel(t.Context())
	defer recording(ctx, cancel, r)()

	client, err := r.client("here")
	if err != nil {
		t.Fatal(err)
	}
	written, err := client.Put(ctx, "/registry/configmaps/n/a", "{}")
	if err != nil {
		t.Fatal(err)
	}
	bounded, done := context.WithTimeout(ctx, 10*EtcdSilence)
	defer done()
	if err := r.WaitFor(bounded, written.Header.Revision); err != nil {
		t.Error(err)
	}
}

// What is told after a silence may be as old as that.
func TestEtcdSaysThatItWasAway(t *testing.T) {
	m := newMemory()
	r := newRecorder(m)
	hears := func(at time.Duration) {
		m.now = int64(at)
		r.hear(int64(at))
	}
	hears(9 * time.Second) // the first time it hears anything
	hears(9*time.Second + EtcdAway)
	if got := m.of(history.KindRecorderDelayed); len(got) > 0 {
		t.Fatalf("it was not away: %v", got)
	}
	hears(15 * time.Second)
	got := m.of(history.KindRecorderDelayed)
	if len(got) != 1 || got[0].RecorderDelayed.Source != "etcd" || got[0].From != int64(9*time.Second+EtcdAway) {
		t.Errorf("%+v", got)
	}
}

// An etcd that is cut off from the others, or behind them, answers all the time that it
// has come no further. That is no news of the others.
func TestEtcdIsAwayWhileItFollowsOneThatIsBehind(t *testing.T) {
	m := newMemory()
	r := newRecorder(m)
	m.now = int64(9 * time.Second)
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(2, 2, "/registry/a", "")}})
	r.hear(int64(9 * time.Second))
	for m.now < int64(15*time.Second) {
		m.now += int64(EtcdProgress)
		r.take(clientv3.WatchResponse{Header: progressHeader(2)})
	}
	r.take(clientv3.WatchResponse{Events: []*clientv3.Event{put(3, 3, "/registry/b", "")}})
	var kinds []history.Kind
	for _, e := range m.events {
		kinds = append(kinds, e.Kind)
	}
	if fmt.Sprint(kinds) != fmt.Sprint([]history.Kind{history.KindStored, history.KindRecorderDelayed, history.KindStored}) || m.events[1].From != int64(9*time.Second) {
		t.Errorf("recorded %v, %+v", kinds, m.events)
	}
}
