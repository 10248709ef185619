package storageversion

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

var sprintf = fmt.Sprintf

// storing is a tagged write that a member's server stored.
type storing struct {
	*fact.Write
	f        *facts
	resource fact.Resource
	// name of the resource's StorageVersion, and id of the server.
	name, id string
	at       fact.Moment
	// s is the process of the member that had started last before; nil if none had.
	s *server
	// object is the StorageVersion as it was, nil where there was none, and change the one of
	// the server's entry that was in force, nil where that had never been there.
	object *fact.VersionRevision
	change *fact.EntryChange
	// tags are "write", whether the member went "onward" to a version that was new to it or
	// "back" to one that it had left, and "version" for the first
	// announced write in a further version.
	tags []string
}

// storings are all of them, but those by unknown servers, and those of aggregated servers,
// which have storage versions of their own.
func (f *facts) storings() []*storing {
	type key struct{}
	type writer struct {
		member string
		fact.Resource
	}
	return fact.Cached(f.History, key{}, func() (out []*storing) {
		been, announced := map[writer][]string{}, map[fact.Resource][]string{} // versions, the last one at the end
		for _, w := range f.Writes() {
			r, ok := f.ResourceOfWrite(w)
			id := f.ServerID(w.Member)
			if !ok || id == "" || f.Aggregated(r) {
				continue
			}
			v, by := f.StorageVersion(r.StorageVersionName()), writer{w.Member, r}
			s := &storing{
				Write: w, f: f, resource: r, name: v.Name, id: id, at: f.When(w.Stored), s: f.serverOf(w.Member, w.Stored.Revision),
				object: v.At(w.Stored.Revision), change: v.Entry(id).ChangeBy(w.Stored.Revision), tags: []string{"write"},
			}
			switch of := been[by]; {
			case len(of) > 0 && of[len(of)-1] == w.APIVersion:
			case len(of) > 0 && slices.Contains(of, w.APIVersion):
				s.tags = append(s.tags, "back")
			case len(of) > 0:
				s.tags = append(s.tags, "onward")
			}
			been[by] = append(slices.DeleteFunc(been[by], func(v string) bool { return v == w.APIVersion }), w.APIVersion)
			if s.announced() == w.APIVersion && !s.s.silent() && !slices.Contains(announced[r], w.APIVersion) {
				s.tags = append(s.tags, tagIf(len(announced[r]) > 0, "version")...)
				announced[r] = append(announced[r], w.APIVersion)
			}
			out = append(out, s)
		}
		return out
	})
}

// builtInStorings are those of resources that are not known to be custom ones, in the order in
// which they were seen in etcd.
func (f *facts) builtInStorings() []*storing {
	type key struct{}
	return fact.Cached(f.History, key{}, func() []*storing {
		out := fact.Where(f.storings(), func(w *storing) bool { return f.Hosted(w.resource) != fact.HostedOtherwise })
		slices.SortStableFunc(out, func(a, b *storing) int { return cmp.Compare(a.Stored.Seq, b.Stored.Seq) })
		return out
	})
}

// builtInStoringsIn are those that were seen in a hold that has ended. A history has many holds
// and many storings, so it looks through no other ones.
func (f *facts) builtInStoringsIn(hold *fact.Hold) []*storing {
	all := f.builtInStorings()
	at := func(seq int64) int {
		return sort.Search(len(all), func(i int) bool { return all[i].Stored.Seq >= seq })
	}
	return all[at(hold.Began.Seq):at(hold.Ended.Seq+1)]
}

// storedBy are those of a member in the resource of a StorageVersion.
func (f *facts) storedBy(member, name string) []*storing {
	type key struct{ member, name string }
	type all struct{}
	return fact.Cached(f.History, all{}, func() map[key][]*storing {
		out := map[key][]*storing{}
		for _, w := range f.builtInStorings() {
			k := key{w.Member, w.name}
			out[k] = append(out[k], w)
		}
		return out
	})[key{member, name}]
}

// Entry is an obligation about the write.
func (w *storing) Entry() law.Entry { return law.Of(w.name, w.at).By(w.Member).Shown(w.Stored.Seq) }

// announced is what the server had announced; "nothing" if it had no entry.
func (w *storing) announced() string {
	if w.change != nil && w.change.There {
		return w.change.Is.Encoding
	}
	return "nothing"
}

// changed is the number of the event that changed the server's entry last; 0 if none did.
func (w *storing) changed() int64 {
	if w.change == nil {
		return 0
	}
	return w.change.Seq
}

// withdrawn ends the obligation of a write that is right although the announcement of it is
// gone, or may be; any other it leaves without an ending. A server that gave up its Lease
// finishes what it was asked for before; and what the harness removed is nothing to hold
// against it, unless the custom resource was defined anew since.
func (w *storing) withdrawn(e law.Entry, finishes, repaired time.Duration) law.Entry {
	c, defined := w.change, w.f.definitions[w.name]
	made := fact.Last(defined, w.Stored.Revision, func(s fact.Stamp) int64 { return s.Revision })
	if w.s == nil || c == nil || c.There || made >= 0 && c.Revision <= defined[made].Revision ||
		!w.s.held(w.name, w.Stored.Revision, func(e *history.Entry) bool { return e.Encoding == w.APIVersion }) {
		return e
	}
	gone, within, why := w.f.When(c.Stamp), finishes, "the server had left, and finished what it had been asked for"
	switch {
	case w.f.takenBy(w.name, c.Stamp):
		within, why = repaired, "the harness had removed the announcement"
	case w.f.unleased(w.id, gone):
		within, why = repaired, "the harness had deleted the server's identity Lease, and its announcement went with that"
	case w.f.TakesPart(w.id, w.Stored.Revision) || w.Answer.Seq > 0 && w.Answer.From >= gone.Latest:
		return e
	}
	switch least, most := gone.Until(w.at); {
	case most <= within:
		return e.Excused("%s", why)
	case least <= within:
		return e.Unclear("%s, if the write came within %s of that", why, within)
	}
	return e
}

// falsely is whether the object called another version agreed than the write stored.
func (w *storing) falsely() bool {
	return w.object.Is.Common != nil && *w.object.Is.Common != w.APIVersion
}
