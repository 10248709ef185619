package fact

import (
	"cmp"
	"slices"
	"sort"
)

// Clock tells when etcd made a revision. It rests on requests that name a revision, and
// on when the recorder of etcd told of it: what a write made was made between its
// sending and its answer, so a higher revision was made after the sending, and a lower
// one before the answer. An answer is the word of the server that is judged: one that names
// a revision that etcd cannot have had then, nor soon after, as the recorder shows, counts for
// nothing.
type Clock struct {
	// made are revisions with a time after which all higher ones were made; seen are
	// revisions with a time before which they, and all lower ones, were made.
	made, seen []reading
	// told are between which times the recorder of etcd shows that a revision was made, in the
	// order of revisions and of both times.
	told []bracket
	// after and before are those of made and seen that the recorder does not refute, in the
	// order of revisions. They are there once sorted.
	after, before []reading
	sorted        bool
}

type reading struct{ revision, at int64 }

type bracket struct{ revision, from, to int64 }

// toldApart is how far apart what is kept of what the recorder of etcd tells is at least; with
// each change there would be as many brackets as events.
const toldApart = int64(etcdDelay) / 10

// Told has the recorder of etcd tell of a revision, which was made between two times. It tells
// of revisions in their order.
func (c *Clock) Told(revision, from, to int64) {
	if n := len(c.told); n > 0 {
		from, to = max(from, c.told[n-1].from), max(to, c.told[n-1].to)
		if to < c.told[n-1].to+toldApart {
			return
		}
	}
	c.told, c.sorted = append(c.told, bracket{revision, from, to}), false
}

// Made tells that the revision was made between two times.
func (c *Clock) Made(revision, from, to int64) {
	c.made = append(c.made, reading{revision, from})
	c.Seen(revision, to)
}

// Seen tells that the revision had been made by a time; 0 is none.
func (c *Clock) Seen(revision, at int64) {
	if revision <= 0 {
		return
	}
	c.seen = append(c.seen, reading{revision, at})
	c.sorted = false
}

// lastTold is the index of the last revision up to another one that the recorder told of.
func (c *Clock) lastTold(revision int64) int {
	return Last(c.told, revision, func(b bracket) int64 { return b.revision })
}

// sort has each reading of after be the latest of all lower revisions, and each of
// before the earliest of all higher ones.
func (c *Clock) sort() {
	if c.sorted {
		return
	}
	c.after = Where(c.made, func(r reading) bool {
		i := c.lastTold(r.revision) + 1
		return i == len(c.told) || c.told[i].to+int64(etcdDelay) >= r.at
	})
	c.before = Where(c.seen, func(r reading) bool {
		i := c.lastTold(r.revision)
		return i < 0 || c.told[i].from-int64(etcdDelay) <= r.at
	})
	byRevision := func(a, b reading) int { return cmp.Compare(a.revision, b.revision) }
	slices.SortStableFunc(c.after, byRevision)
	slices.SortStableFunc(c.before, byRevision)
	for i := 1; i < len(c.after); i++ {
		c.after[i].at = max(c.after[i].at, c.after[i-1].at)
	}
	for i := len(c.before) - 2; i >= 0; i-- {
		c.before[i].at = min(c.before[i].at, c.before[i+1].at)
	}
	c.sorted = true
}

// Bracket narrows the times between which a revision was made. In a history that no
// recorder wrote they may contradict each other: the latest one counts then.
func (c *Clock) Bracket(revision, earliest, latest int64) (int64, int64) {
	c.sort()
	if i := Last(c.after, revision-1, func(r reading) int64 { return r.revision }); i >= 0 {
		earliest = max(earliest, c.after[i].at)
	}
	if i := Last(c.before, revision-1, func(r reading) int64 { return r.revision }) + 1; i < len(c.before) {
		latest = min(latest, c.before[i].at)
	}
	return min(earliest, latest), latest
}

// By is the highest revision that is known to have been made by a time.
func (c *Clock) By(at int64) int64 {
	c.sort()
	i := sort.Search(len(c.before), func(i int) bool { return c.before[i].at > at })
	if i == 0 {
		return 0
	}
	return c.before[i-1].revision
}
