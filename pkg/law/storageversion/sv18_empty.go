package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv18: an object that has no entry is removed (KEP-2339, garbage collection: the control
// loop looks at each object when the list of participants changes, and deletes those without
// entries). For an object that lost its last entry the time begins at once, as it was the
// loop or a server that took the entry out; for one that never had any it begins when the
// list changes next, since the server that made the object may be about to report.
var sv18 = law.Together[*facts]{
	Row:   law.Row{ID: "SV-18", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "removed", Tag: "removed"}}},
	Parts: []law.Law[*facts]{sv18Empty, sv18Stale},
}

var sv18Empty = law.Deadline[*facts, emptiness]{
	Bound:   "departedGoes",
	Over:    (*facts).emptinesses,
	Begin:   law.Once(func(x emptiness) fact.Moment { return x.began }),
	Running: func(x emptiness) fact.Signal { return x.f.collectorAble("SV-18") },
	Done:    emptiness.done,
	Void:    emptiness.voids,
	Tag: func(x emptiness, began, done fact.Moment) []string {
		return tagIf(x.gone && x.f.inTime("SV-18", began, done), "removed")
	},
	Lacking: func(x emptiness) string { return x.v.Name + " " + x.what + ", and was not removed" },
}

// sv18Stale counts objects that had nothing but stale entries, and were removed as they were.
// That these must go is SV-16's.
var sv18Stale = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	since, stale := map[*fact.VersionRevision]fact.Moment{}, map[*fact.VersionRevision]int{}
	for _, d := range f.departures() {
		if !d.gone || d.v.At(d.Ended.Revision) != nil {
			continue
		}
		object, began := d.v.At(d.Ended.Revision-1), f.When(d.Began)
		if stale[object]++; began.Revision > since[object].Revision {
			since[object] = began
		}
		switch at := f.When(*d.Ended); {
		case stale[object] < len(object.Is.Entries):
		case d.byHarness():
			l.Excused(d.v.Name, at, "the harness took it away")
		case f.inTime("SV-18", since[object], at):
			l.Met(d.v.Name, at, "removed")
		}
	}
}}

// emptiness is a stretch in which an object had no entry, from when the collector had to look
// at it.
type emptiness struct {
	owed
	began fact.Moment
	what  string
}

func (x emptiness) Entry() law.Entry { return law.Entry{About: x.v.Name} }

func (f *facts) emptinesses() (out []emptiness) {
	for _, v := range f.StorageVersions() {
		for _, s := range v.Stretches(func(sv *history.StorageVersion) bool { return len(sv.Entries) == 0 }) {
			x := emptiness{owed{s, f, v, s.Ended != nil && v.At(s.Ended.Revision) == nil}, f.When(s.Began), "lost its last entry"}
			if v.At(s.Began.Revision-1) == nil {
				next := f.nextTurnOfParticipants(s)
				if next == nil {
					continue // it was not empty when the list of participants changed
				}
				x.began, x.what = f.When(*next), "has had no entry since it was made"
			}
			out = append(out, x)
		}
	}
	return out
}

// nextTurnOfParticipants is when a server joined or left first in a stretch; nil if none did.
func (f *facts) nextTurnOfParticipants(in fact.Stretch) (next *fact.Stamp) {
	for _, p := range f.Participants() {
		for _, s := range append(p.Stretches(), fact.Gaps(p.Stretches())...) {
			turn := s.Began.Revision
			if turn > in.Began.Revision && in.Through(turn, turn) && (next == nil || turn < next.Revision) {
				next = &s.Began
			}
		}
	}
	return next
}
