package everyrun

import (
	"slices"
	"sort"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// done ends what is owed of an object that etcd had when its deletion was asked for: by the answer
// it is deleted, or is to go as soon as nothing holds it, which is the revision that the answer
// names. Another client may have deleted it.
func (d deletion) done(law.Bounds) law.Entry {
	f, e, asked := d.facts, law.Of(d.name, fact.Exactly(d.At, d.Seq)), d.span()
	there, later := stored{gone: true}, f.madeAfter(d.At)
	for _, s := range f.storedUnder(d.keys()) {
		switch {
		case f.When(s.stamp()).Latest < asked.Earliest:
			there = s
		case later != nil && s.Revision >= later.Revision:
		case s.ends() || s.Revision == d.revision:
			return law.Of("", e.Began).By(d.member).Met()
		}
	}
	switch {
	case there.ends():
		return e.Excused("etcd did not have the object, or it was being deleted")
	case later == nil:
		return e.Open("etcd did not tell of all up to the answer of %s, which deleted it", d.member)
	}
	return e.Broken("%s acknowledged that it deleted %s, and etcd goes on to have it as revision %d left it", d.member, d.name, there.Revision).
		Shown(there.Seq, d.Seq).Unless(later.Seq)
}

// madeAfter is the first change that etcd certainly made after an instant, by requests that were
// sent later and name an earlier revision; nil if it told of none. When its recorder told of changes
// says nothing of that: it may have been late.
func (f *Facts) madeAfter(at int64) *stored {
	i := sort.Search(len(f.stored), func(i int) bool {
		s := f.stored[i].stamp()
		s.From = 1
		return f.When(s).Earliest > at
	})
	if i == len(f.stored) {
		return nil
	}
	return &f.stored[i]
}

// ends is whether a change leaves no object that lasts, or may leave none.
func (s stored) ends() bool { return s.gone || s.deleting || s.opaque }

// storedUnder are the changes under any of the keys of an object that a member was asked to delete.
func (f *Facts) storedUnder(keys []string) []stored {
	type byKey struct{}
	changes := fact.Cached(f.History, byKey{}, func() map[string][]stored {
		out := map[string][]stored{}
		for _, d := range f.deletions {
			for _, k := range d.keys() {
				out[k] = nil
			}
		}
		for _, s := range f.stored {
			if of, asked := out[s.key]; asked {
				out[s.key] = append(of, s)
			}
		}
		return out
	})
	return slices.Concat(fact.Each(keys, func(k string) []stored { return changes[k] })...)
}
