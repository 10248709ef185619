package storageversion

import (
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// departure is an entry of a server that does not take part.
type departure struct {
	f  *facts
	v  *fact.StorageVersion
	id string
	// began is when the later of two things came about: the entry, and that its server does
	// not take part; left is whether the server had taken part before.
	began fact.Stamp
	left  bool
	// gone is the change by which the entry went, back when its server joined again; nil
	// where it did not.
	gone *fact.EntryChange
	back *fact.Stamp
}

// turn is a change of an entry or of the participation of its server.
type turn struct {
	revision int64
	entry    *fact.EntryChange
	joined   *fact.Stamp
	left     *fact.Stamp
}

// departures are those of all StorageVersions, in the order of names and servers.
func (f *facts) departures() []departure {
	var out []departure
	for _, v := range f.StorageVersions() {
		for _, id := range v.Servers() {
			out = append(out, f.departuresOf(v, id)...)
		}
	}
	return out
}

func (f *facts) departuresOf(v *fact.StorageVersion, id string) []departure {
	var turns []turn
	for i, c := range v.Changes(id) {
		turns = append(turns, turn{revision: c.Revision, entry: &v.Changes(id)[i]})
	}
	spans := f.Participation(id).Spans
	for i := range spans {
		turns = append(turns, turn{revision: spans[i].Joined.Revision, joined: &spans[i].Joined})
		if spans[i].Left != nil {
			turns = append(turns, turn{revision: spans[i].Left.Revision, left: spans[i].Left})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.revision, b.revision) })
	var out []departure
	var open *departure
	present, takesPart, ever := false, false, false
	for _, t := range turns {
		switch {
		case t.entry != nil:
			present = t.entry.Present()
		case t.joined != nil:
			takesPart, ever = true, true
		default:
			takesPart = false
		}
		switch stale := present && !takesPart; {
		case stale && open == nil:
			open = &departure{f: f, v: v, id: id, left: ever}
			if t.left != nil {
				open.began = *t.left
			} else {
				open.began = t.entry.Stamp
			}
		case !stale && open != nil:
			open.gone, open.back = t.entry, t.joined
			out, open = append(out, *open), nil
		}
	}
	if open != nil {
		out = append(out, *open)
	}
	return out
}
