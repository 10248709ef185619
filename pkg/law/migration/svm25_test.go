package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// migration stores a migration; one that is made has itself as the created revision.
func (t *historyBuilder) migration(name string, revision, created int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/" + name, Name: name, Revision: revision, Created: created,
		Migration: &history.Migration{Group: group, Resource: "things"}})
}

func (t *historyBuilder) migrationGone(name string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/" + name, Name: name, Revision: revision})
}

// sees is an event of the watch of migrations through a member.
func (t *historyBuilder) sees(member, what, name string, revision int64) *historyBuilder {
	return t.add(history.Event{Kind: history.KindWatch, Member: member, Watch: &history.Watch{Resource: watchedMigrations, Type: what, Name: name, ResourceVersion: revision}})
}

func (t *historyBuilder) refusedWatch(member string, code int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindWatch, Member: member, Watch: &history.Watch{Resource: watchedMigrations, Type: history.WatchBroken, Code: code, Message: "the list was answered"}})
}

// etcd is a change in the life of a member's etcd.
func (t *historyBuilder) etcd(member, change string, instance int) *historyBuilder {
	return t.process(member, history.Process{Component: history.ComponentEtcd, Change: change, Instance: instance})
}

// stopsEtcd is crossing, and the harness tells the member's etcd to end.
func stopsEtcd() *historyBuilder {
	return crossing().etcd("a", history.ProcessStarted, 1).etcd("a", history.ProcessStopping, 1)
}

// lists a migration list through a member.
func (t *historyBuilder) listsMigrations(member string, codes ...int) *historyBuilder {
	for _, code := range codes {
		t.add(history.Event{Kind: history.KindRequest, Member: member, Request: &history.Request{
			Class: history.ClassRead, Verb: "list", Group: "storagemigration.k8s.io", Version: "v1", Resource: watchedMigrations, Code: code}})
	}
	return t
}

// crossing is a plane of one member, a, with a migration m that it shows.
func crossing() *historyBuilder {
	b := newHistory().starts("a", 1).hosts("a", 1).ready("a", 200, 1)
	b.header.Members = b.header.Members[:1]
	return b.sees("a", history.WatchOpened, "", 2).migration("m", 5, 5).sees("a", "ADDED", "m", 5)
}

func held(b *historyBuilder, codes ...int) *historyBuilder {
	return heldAfter(10*time.Second+time.Second, b, codes...)
}

func heldAfter(d time.Duration, b *historyBuilder, codes ...int) *historyBuilder {
	b.after(d).holds(history.PhaseBegin, 50)
	return b.listsMigrations("a", codes...).holds(history.PhaseEnd, 51)
}

func TestSVM25(t *testing.T) {
	const unseen = "are shown migration m no more, and etcd has it"
	for _, tc := range []struct {
		name   string
		b      *historyBuilder
		blames []string
		reason string
	}{
		{"shown", held(crossing(), 200), nil, ""},
		{"not in the list of a new watch", held(crossing().refusedWatch("a", 0).sees("a", history.WatchOpened, "", 6), 200), []string{unseen}, ""},
		{"as it was before", held(crossing().migration("m", 9, 5), 200), []string{"as it was before revision 9"}, ""},
		{"deleted and still shown", held(crossing().migrationGone("m", 9), 200), []string{"though it was deleted"}, ""},
		{"deleted", held(crossing().migrationGone("m", 9).sees("a", "DELETED", "m", 9), 200), nil, ""},
		{"what changed just now may be on its way", func() *historyBuilder {
			b := crossing().after(10*time.Second).migration("m", 9, 5).migration("n", 10, 10)
			return b.holds(history.PhaseBegin, 50).listsMigrations("a", 200).holds(history.PhaseEnd, 51)
		}(), nil, ""},
		{"the list is refused", held(crossing(), 500, 500), []string{"every list of migrations in v1 was refused by a, at last with 500"}, ""},
		{"the list is refused once", held(crossing(), 503, 200), nil, ""},
		{"the list is not answered", held(crossing(), 0), nil, "in which versions a lists migrations"},
		{"no client has asked for a list", held(crossing()), nil, "in which versions a lists migrations"},
		{"the watch is refused", held(crossing().refusedWatch("a", 500), 200), []string{"could not list and watch migrations: the list was answered"}, ""},
		{"the watch is not answered", held(crossing().refusedWatch("a", 0), 200), nil, "which migrations clients of a are shown"},
		{"the watch is lost during the hold", func() *historyBuilder {
			b := crossing().after(10*time.Second+time.Second).holds(history.PhaseBegin, 50).refusedWatch("a", 500)
			return b.listsMigrations("a", 200).holds(history.PhaseEnd, 51)
		}(), nil, "which migrations clients of a are shown"},
		{"the server is gone", held(crossing().exits("a", 1)), nil, ""},
		{"the list is refused without etcd", held(stopsEtcd(), 500, 500), nil, ""},
		{"the list is refused with etcd again", held(stopsEtcd().etcd("a", history.ProcessStarted, 2), 500, 500), []string{"every list of migrations in v1 was refused by a, at last with 500"}, ""},
		{"as it was before etcd was stopped", held(stopsEtcd().migration("m", 9, 5).etcd("a", history.ProcessStarted, 2), 200), []string{"as it was before revision 9"}, ""},
		{"as it was before etcd was stopped, until just now", heldAfter(5*time.Second, stopsEtcd().migration("m", 9, 5).after(10*time.Second).etcd("a", history.ProcessStarted, 2), 200), nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.b.finds(t, "SVM-25", tc.blames...)
			if tc.reason != "" {
				reason(t, r, tc.reason)
			}
		})
	}
}

func TestSVM25CountsWhatOutlivesAReplacement(t *testing.T) {
	again := func(release string) *historyBuilder {
		b := crossing().refusedWatch("a", 0).exits("a", 1)
		b.process("a", history.Process{
			Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 2, Release: release})
		return held(b.hosts("a", 7).ready("a", 200, 7).sees("a", history.WatchOpened, "", 8).sees("a", "ADDED", "m", 5), 200)
	}
	counted(t, again("2").finds(t, "SVM-25"), "had been replaced", 1)
	counted(t, again("2").finds(t, "SVM-25"), "had not ended", 1)
	counted(t, again("").finds(t, "SVM-25"), "had been replaced", 0)
}
