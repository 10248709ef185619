package storageversion

import (
	"fmt"
	"time"

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

// sv18Stale: an object that has nothing but stale entries may be removed as it is. That
// these must go is SV-16's.
var sv18Stale = law.Written[*facts]{
	Row: law.Row{ID: "SV-18"},
	Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
		for _, v := range f.StorageVersions() {
			for i, r := range v.Revisions {
				if r.Content != nil || i == 0 || v.Revisions[i-1].Content == nil || len(v.Revisions[i-1].Content.Entries) == 0 {
					continue
				}
				began, stale := f.staleSince(v, r.Revision, v.Revisions[i-1].Content.Entries)
				switch at := f.When(r.Stamp); {
				case !stale:
				case f.harness.removed(v.Name, at):
					l.Excused(v.Name, at, "the harness removed the object")
				case f.tested("SV-18", began, at):
					l.Met(v.Name, at, "removed")
				}
			}
		}
	},
}

// staleSince is since when all entries of an object were stale that was deleted by a
// revision; false if any server of them took part.
func (f *facts) staleSince(v *fact.StorageVersion, deleted int64, entries []history.Entry) (since fact.Moment, stale bool) {
	for _, e := range entries {
		if f.TakesPart(e.ServerID, deleted) {
			return fact.Moment{}, false
		}
		for _, d := range f.departuresOf(v, e.ServerID) {
			if at := f.When(d.began); d.gone != nil && d.gone.Revision == deleted && at.Revision > since.Revision {
				since = at
			}
		}
	}
	return since, true
}

var sv18Empty = law.Deadline[*facts, emptiness]{
	Row:      law.Row{ID: "SV-18"},
	Bound:    "departedGoes",
	Over:     func(f *facts) []emptiness { return f.emptinesses() },
	Describe: func(x emptiness) law.Entry { return law.Entry{About: x.v.Name} },
	Begin:    func(x emptiness) []fact.Moment { return []fact.Moment{x.began} },
	Running:  func(x emptiness) fact.Signal { return x.f.ableFor("SV-18") },
	Done: func(x emptiness) []fact.Moment {
		if x.ended == nil || x.byHarness() {
			return nil
		}
		return []fact.Moment{x.f.When(x.ended.Stamp)}
	},
	Void: func(x emptiness) []law.Void {
		if x.ended != nil && x.byHarness() {
			return []law.Void{{Moment: x.f.When(x.ended.Stamp), Why: "the harness removed the object"}}
		}
		return nil
	},
	Tag: func(x emptiness, began, done fact.Moment) []string {
		if x.ended.Content == nil && x.f.tested("SV-18", began, done) {
			return []string{"removed"}
		}
		return nil
	},
	Breach: func(x emptiness, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("%s %s, and was not removed for %s in which the collector could work", x.v.Name, x.what, took.Round(time.Second))
	},
}

// emptiness is an object in which no server that takes part has an entry.
type emptiness struct {
	f     *facts
	v     *fact.StorageVersion
	began fact.Moment
	what  string
	// ended is the revision that deleted the object or brought an entry; nil if none did.
	ended *fact.VersionRevision
}

func (x emptiness) byHarness() bool {
	return x.ended.Content == nil && x.f.harness.removed(x.v.Name, x.f.When(x.ended.Stamp))
}

func (f *facts) emptinesses() []emptiness {
	var out []emptiness
	for _, v := range f.StorageVersions() {
		var open *emptiness
		for i := range v.Revisions {
			r := &v.Revisions[i]
			empty := r.Content != nil && len(r.Content.Entries) == 0
			switch {
			case empty && open == nil:
				open = &emptiness{f: f, v: v, began: f.When(r.Stamp), what: "lost its last entry"}
				if i == 0 || v.Revisions[i-1].Content == nil {
					open.what = "has had no entry since it was made"
				}
			case !empty && open != nil:
				open.ended = r
				out = f.began(out, *open)
				open = nil
			}
		}
		if open != nil {
			out = f.began(out, *open)
		}
	}
	return out
}

// began keeps an emptiness from when the collector had to look at it.
func (f *facts) began(out []emptiness, x emptiness) []emptiness {
	if x.what == "lost its last entry" {
		return append(out, x)
	}
	next := f.nextChangeOfParticipants(x.began)
	if next == nil || x.ended != nil && f.When(x.ended.Stamp).Before(*next) != fact.No {
		return out // it was not empty when the list of participants changed
	}
	x.began = *next
	return append(out, x)
}

// nextChangeOfParticipants is when a server joined or left after a moment; nil if none did.
func (f *facts) nextChangeOfParticipants(m fact.Moment) *fact.Moment {
	var next *fact.Moment
	for _, p := range f.Participants() {
		for _, s := range p.Spans {
			for _, stamp := range []*fact.Stamp{&s.Joined, s.Left} {
				if stamp == nil || stamp.Revision <= m.Revision || next != nil && stamp.Revision >= next.Revision {
					continue
				}
				at := f.When(*stamp)
				next = &at
			}
		}
	}
	return next
}
