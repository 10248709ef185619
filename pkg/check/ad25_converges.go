package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad25: when changes stop, the document converges to unaggregated discovery, the
// same on all members of a release, and nothing stays stale. In which order it lists
// things is AD-12's.
type ad25 struct {
	findings
	equal, changes tally
	// latest is what each member had when it was looked at last, all quiet.
	latest map[string]settledLook
}

type settledLook struct {
	// changedAt is when the last change was made by then.
	changedAt int64
	release   string
	listing   *history.Listing
	// from is when the look began.
	from, seq int64
}

func newAD25() *ad25 { return &ad25{latest: map[string]settledLook{}} }

func (c *ad25) Observe(w *World, ev *history.Event) {
	if r := ev.Request; r != nil && r.Defines != nil && accepted(r) {
		for _, member := range w.order {
			c.changes.add(w, member)
		}
	}
	s := w.docs.swept
	if s == nil || s.in == nil || !s.settled {
		return
	}
	document, ok := s.steady(groupsPath)
	plain := s.plainGroups(w)
	if !ok || plain == nil {
		return
	}
	listing := w.docs.listing(document.Document)
	if listing == nil {
		return
	}
	unfit, stale := c.compare(w, s, document, plain, listing)
	if stale {
		return // an aggregated server may still be on its way
	}
	if !unfit {
		c.equal.add(w, s.member)
	}
	c.members(w, s, document, listing)
}

// compare reports whether the aggregated document differs from the others, or cannot be
// compared with all of them, and whether it has something out of date that may be.
func (c *ad25) compare(w *World, s *sweep, document, plain *history.Event, listing *history.Listing) (unfit, stale bool) {
	wrong := func(seq int64, format string, args ...any) {
		unfit = true
		c.infer(w, at(document.Seq, seq), "%s after the last change %s", seconds(s.from-w.docs.changedAt), fmt.Sprintf(format, args...))
	}
	wrongIn := func(group, version string, seq int64, format string, args ...any) {
		unfit = true
		since := s.from - w.docs.changedAt
		w.unlessForeign(s.member, group, version, func() {
			c.infer(w, at(document.Seq, seq), "%s after the last change %s", seconds(since), fmt.Sprintf(format, args...))
		})
	}
	answers := s.versionAnswers()
	others := w.docs.listing(plain.Document)
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			name := named(group.Name, version.Version)
			remote := w.docs.remote(group.Name, version.Version)
			if w.isForeign(s.member, group.Name, version.Version, s.from) {
				continue
			}
			if remote && w.docs.behind(group.Name, s.from) {
				stale = true
				continue
			}
			ev := answers[name]
			if version.Freshness != history.FreshnessCurrent {
				// A process has to fetch it first, and so has one that was frozen; and what
				// somebody else's server was to answer for, which is dead, is rightly stale.
				since := max(w.docs.changedAt, w.docs.healedAt, w.docs.standingOf(s.member).joined)
				if remote && s.from < since+int64(recovers) || !remote && ev != nil && busy(ev.Document) {
					stale = true
					continue
				}
				wrongIn(group.Name, version.Version, document.Seq, "%s calls %s %q", s.member, name, version.Freshness)
				continue
			}
			if versionIn(others, group.Name, version.Version) == nil {
				wrongIn(group.Name, version.Version, plain.Seq, "%s lists %s, but not in the list of groups that is not aggregated", s.member, name)
			}
			if !remote && (ev == nil || busy(ev.Document)) {
				unfit = true // it is not known whether they are equal
			}
			if ev != nil && ev.Document.Code == 404 && !ev.Document.Itself && !remote {
				wrongIn(group.Name, version.Version, ev.Seq, "%s lists %s, and has nothing at %s", s.member, name, ev.Document.Path)
			}
			if ev != nil && ev.Document.Code == 200 {
				if told := versionIn(w.docs.listing(ev.Document), group.Name, version.Version); told != nil && told.Inventory != version.Inventory {
					wrongIn(group.Name, version.Version, ev.Seq, "%s lists other resources in %s than %s does", s.member, name, ev.Document.Path)
				}
			}
		}
	}
	for _, group := range others.Groups {
		for _, version := range group.Versions {
			ev := answers[named(group.Name, version.Version)]
			if w.isForeign(s.member, group.Name, version.Version, s.from) {
				continue
			}
			if ev != nil && ev.Document.Code == 200 && versionIn(listing, group.Name, version.Version) == nil {
				wrongIn(group.Name, version.Version, plain.Seq, "%s lists %s only in the list of groups that is not aggregated", s.member, named(group.Name, version.Version))
			}
		}
	}
	for _, one := range w.docs.wants {
		if one.remote {
			if ghost := w.docs.ghost(listing, one, s.from); ghost != "" {
				wrong(one.seq, "%s still lists %s, which was handed on to an aggregated server and is not any more", s.member, ghost)
			}
			continue
		}
		if missing := w.docs.missing(listing, one); missing != "" {
			wrong(one.seq, "%s %s", s.member, missing)
		}
	}
	return unfit, stale
}

// ghost is a group-version that a document has, asked for at the time, because of an
// APIService that is gone; empty if there is none.
func (d *documents) ghost(listing *history.Listing, one *wanting, from int64) string {
	for _, version := range one.ever {
		if versionIn(listing, one.group, version) != nil && !d.due(one.group, version, from, 0) {
			return named(one.group, version)
		}
	}
	return ""
}

// members compares what members of one release have after the same last change, but for
// what is foreign.
func (c *ad25) members(w *World, s *sweep, document *history.Event, listing *history.Listing) {
	mine := settledLook{w.docs.changedAt, s.in.release, listing, s.from, document.Seq}
	for _, member := range w.order {
		other, ok := c.latest[member]
		if ok && member != s.member && other.changedAt == mine.changedAt && other.release == mine.release && contentOf(other.listing) != contentOf(mine.listing) {
			w.whenForeignTold(func() {
				if contentOf(w.own(member, other.listing, other.from)) != contentOf(w.own(s.member, mine.listing, mine.from)) {
					c.infer(w, at(other.seq, mine.seq), "%s after the last change %s and %s, which run the same release, have different documents", seconds(mine.from-mine.changedAt), member, s.member)
				}
			})
		}
	}
	c.latest[s.member] = mine
}

// contentOf names what a document lists, in whichever order.
func contentOf(listing *history.Listing) string {
	content, _ := orderOf(listing)
	return content
}

func (c *ad25) Finish(*World) {}

func (c *ad25) Observations() []Observation {
	return []Observation{
		{What: "quiet looks at the member with the fewest that found all documents equal", Seen: c.equal.least(), Need: needSweeps},
		{What: "changes of what is to be hosted", Seen: c.changes.least(), Need: needDefined},
	}
}
