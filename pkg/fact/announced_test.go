package fact_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Each process of an API server has the entries that stood since it was ready: not those that
// the process before it has left, nor those of the one after it.
func TestAnnounced_AreOfTheProcess(t *testing.T) {
	const server = "apiserver-a"
	h := fact.NewHistory(history.Header{Members: []history.MemberHeader{{Name: "cp1", ServerID: server}}})
	seq := int64(0)
	observe := func(at time.Duration, ev history.Event) {
		seq++
		ev.Seq, ev.At = seq, int64(at)
		h.Observe(&ev)
	}
	process := func(at time.Duration, instance int, off ...string) {
		observe(at, history.Event{Member: "cp1", From: int64(at), Process: &history.Process{
			Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: instance, DisabledFeatures: off,
		}})
	}
	entry := func(at time.Duration, revision int64, encoding string) {
		s := &history.Stored{Type: history.StoredPut, Key: "/registry/storageversions/g.things", Name: "g.things", Revision: revision}
		s.StorageVersion = &history.StorageVersion{Entries: []history.Entry{{ServerID: server, Encoding: encoding}}}
		observe(at, history.Event{From: int64(at - time.Millisecond), Stored: s})
	}
	ready := func(at time.Duration, revision int64) {
		observe(at, history.Event{Member: "cp1", From: int64(at - time.Millisecond), Ready: &history.Ready{Code: 200, Revision: revision}})
	}
	process(1*time.Second, 1)
	entry(2*time.Second, 10, "g/v1")
	ready(3*time.Second, 11)
	process(11*time.Second, 2)
	entry(21*time.Second, 20, "g/v2")
	ready(22*time.Second, 21)
	entry(31*time.Second, 30, "g/v3")
	process(41*time.Second, 3, history.FeatureStorageVersions)
	ready(42*time.Second, 31)
	process(51*time.Second, 4)

	v := h.StorageVersion("g.things")
	for i, want := range [][]string{{"g/v1"}, {"g/v2", "g/v3"}, nil, nil} {
		got := fact.Each(h.Announced(h.Processes("cp1", history.ComponentAPIServer)[i], v), func(c fact.EntryChange) string { return c.Is.Encoding })
		if !slices.Equal(got, want) {
			t.Errorf("process %d announced %v, want %v", i+1, got, want)
		}
	}
}
