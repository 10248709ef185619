package fact

import (
	"cmp"
	"slices"
	"sort"
)

// Clock tells when etcd made a revision. It rests on requests that name a revision, and
// on when the recorder of etcd told of it: what a write made was made between its
// sending and its answer, so a higher revision was made after the sending, and a lower
// one before the answer.
type Clock struct {
	// after are revisions with a time after which all higher ones were made; before are
	// revisions with a time before which they, and all lower ones, were made. Both are in
	// the order of revisions once sorted.
	after, before []reading
	sorted        bool
}

type reading struct{ revision, at int64 }

// Made tells that the revision was made between two times.
func (c *Clock) Made(revision, from, to int64) {
	c.after = append(c.after, reading{revision, from})
	c.Seen(revision, to)
}

// Seen tells that the revision had been made by a time; 0 is none.
func (c *Clock) Seen(revision, at int64) {
	if revision <= 0 {
		return
	}
	c.before = append(c.before, reading{revision, at})
	c.sorted = false
}

// sort has each reading of after be the latest of all lower revisions, and each of
// before the earliest of all higher ones.
func (c *Clock) sort() {
	if c.sorted {
		return
	}
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
