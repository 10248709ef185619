package discovery

import (
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad25: when changes stop, the document converges to unaggregated discovery and to that of
// the other members, and nothing stays stale. In which order things are listed is AD-12's,
// and what the document has from peers is AD-23's and AD-24's.
var ad25 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-25", Takes: law.AnyRun, Sources: definitions, Needs: append(each("equal"), law.Need{Name: "changes", Tag: "change"})},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, d := range f.definitions {
			for _, c := range fact.Where(d.changes, func(c *change) bool { return c.known }) {
				l.Met(d.String(), c.moment(), "change")
			}
		}
		latest := map[*member]*sweep{} // the last quiet look at each
		looked := map[*member]int64{}  // when that was, also if it may say something old
		for _, s := range f.quiet() {
			if s.steady(groupsPath).told() == nil || s.plain[groupsPath] == nil {
				continue
			}
			looked[s.member] = s.from
			converges := s.converges()
			l.Add(converges...)
			if !isOld(converges[0]) {
				for _, m := range f.all() {
					l.Add(s.likeOther(latest[m]))
				}
				latest[s.member] = s
				l.Add(s.keeps())
			}
		}
		for _, m := range f.all() {
			l.Add(m.convergedSince(looked[m]))
		}
	},
}

// convergedSince is the obligation of a member that no quiet look has ended: it had the time to
// show the last change, and none was taken since.
func (m *member) convergedSince(looked int64) law.Entry {
	f := m.facts
	last := f.changedBy(f.Now)
	if last == 0 || looked >= last || !f.shown(last, f.Now) || m.serving().At(f.Now) != fact.Yes {
		return law.Entry{}
	}
	return law.Of("all documents", f.Over()).By(m.name).Open("no quiet look at %s since the last change shows whether it has converged", m.name)
}

// unfetched is why a look may say something old.
const unfetched = "an aggregated server misbehaves, or may not have been asked since it did"

// converges ends the obligation of a quiet look: as all that differs, or as what cannot be
// compared, first of all what may be old.
func (s *sweep) converges() []law.Entry {
	all := append(fact.Each(append(s.rows(groupsPath), s.rows(corePath)...), (*row).converges), s.hasDefined()...)
	if document := s.steady(groupsPath); document.listing.twice != "" {
		all = append(all, s.differs(document.seq, "lists the group %s twice", document.listing.twice))
	}
	if broken := fact.Where(all, func(e law.Entry) bool { return e.Ending == law.Broken }); len(broken) > 0 {
		return broken
	}
	for _, fits := range []func(law.Entry) bool{isOld, isUnfit} {
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return all[i : i+1]
		}
	}
	return []law.Entry{s.entry().Met("equal")}
}

func isOld(e law.Entry) bool { return e.Why == unfetched }

func isUnfit(e law.Entry) bool { return e.Ending == law.Excused }

func (s *sweep) entry() law.Entry { return law.Of("all documents", s.moment()).By(s.member.name) }

// differs ends the obligation as broken.
func (s *sweep) differs(seq int64, format string, args ...any) law.Entry {
	args = append([]any{lasted(s.member.facts.changedBy(s.to), s.from), s.member.name}, args...)
	return s.entry().Broken("%s after the last change %s "+format, args...).Shown(s.steadySeq(groupsPath), seq)
}

// converges compares what the documents have of one group-version.
func (r *row) converges() law.Entry {
	own := r.listed
	switch {
	case r.listed == nil && r.plain != nil:
		return r.onlyPlain()
	case r.listed == nil:
		return law.Entry{}
	case r.remote && r.member.facts.behind(r.group, r.from, r.to):
		return r.entry().Excused(unfetched)
	case r.listed.Freshness != history.FreshnessCurrent:
		return r.notCurrent()
	case r.byPeers == fact.Unknown:
		return r.entry().Excused("it is not known what a peer hosts")
	case r.byPeers == fact.Yes:
		own = r.local.listing.version(r.groupVersion)
	}
	if own == nil {
		return law.Entry{}
	}
	return r.isServed(own)
}

// onlyPlain judges a group-version that the aggregated document leaves out. That a member does not
// serve what it lists is no excuse: it fails each client that asks for all that is listed
// (kubernetes/kubernetes#113861). A peer that hosts it may not be known yet (KEP-4020).
func (r *row) onlyPlain() law.Entry {
	served := r.endpoint != nil && r.endpoint.Code == http.StatusOK
	if !served && r.member.facts.acquainted().During(r.moment()) != fact.Yes {
		return r.entry().Excused("a peer that hosts it need not be known yet")
	}
	return r.differs(r.sweep.plain[r.path()].seq, "lists %s only in the %s that is not aggregated", r.groupVersion, plainNames[r.path()])
}

// isServed compares what the server hosts itself with the documents that are not aggregated.
func (r *row) isServed(own *history.ListedVersion) law.Entry {
	switch a := r.endpoint; {
	case r.sweep.plain[r.path()] == nil:
		return r.entry().Excused("the document that is not aggregated was not given")
	case r.plain == nil:
		return r.differs(r.sweep.plain[r.path()].seq, "lists %s, but not in the %s that is not aggregated", r.groupVersion, plainNames[r.path()])
	case a == nil || a.busy():
		if !r.remote {
			return r.entry().Excused("an endpoint gave no answer to compare with")
		}
	case a.Code == http.StatusNotFound && !a.LocalOnly && !r.remote:
		return r.differs(a.seq, "lists %s, and has nothing at %s", r.groupVersion, a.Path)
	case r.told != nil && r.told.Inventory != own.Inventory:
		return r.differs(a.seq, "lists other resources in %s than %s does", r.groupVersion, a.Path)
	}
	return law.Entry{}
}

// notCurrent judges a group-version that is stale. A process has to fetch from an
// aggregated server first, and so has one that was frozen; and what a server was to answer
// for that is dead, of the harness or foreign, is rightly stale.
func (r *row) notCurrent() law.Entry {
	since := r.member.facts.changedBy(r.to)
	for _, s := range r.member.serves().Spans(fact.Yes) {
		if s.Begin <= r.from {
			since = max(since, s.Begin)
		}
	}
	if r.remote && r.from < since+int64(recoversWithin()) || !r.remote && r.endpoint != nil && r.endpoint.busy() {
		return r.entry().Excused(unfetched)
	}
	return r.differs(r.document.seq, "calls %s %q", r.groupVersion, r.listed.Freshness)
}

// hasDefined looks for what the harness has defined.
func (s *sweep) hasDefined() (out []law.Entry) {
	f, steady := s.member.facts, s.steady(groupsPath)
	document := steady.listing
	for _, d := range f.definitions {
		now := d.certain(s.to)
		if now == nil {
			continue
		}
		if wrong := now.lacks(steady, s.to); !d.remote && wrong != "" {
			out = append(out, s.differs(now.seq, "%s", wrong))
		}
		for _, version := range now.versions {
			if of := (groupVersion{d.group, version}); d.remote && document.version(of) == nil {
				out = append(out, s.differs(now.seq, "does not list %s, which an APIService hands on", of))
			}
		}
		for _, version := range now.ever {
			of := groupVersion{d.group, version}
			if d.remote && document.version(of) != nil && !s.member.wanted(of, s.from, s.to, anyDefinition) {
				out = append(out, s.differs(now.seq, "still lists %s, which was handed on to an aggregated server and is not any more", of))
			}
		}
	}
	return out
}

// likeOther compares what members of one program have after the same last change, but for
// what is foreign, and what either has from peers, which each learns of at another time.
func (s *sweep) likeOther(other *sweep) law.Entry {
	f := s.member.facts
	if other == nil || other.member == s.member || f.changedBy(other.to) != f.changedBy(s.to) || program(other.by) != program(s.by) {
		return law.Entry{}
	}
	mine, theirs := s.steady(groupsPath), other.steady(groupsPath)
	but := func(document *answer) string {
		contents, _ := document.listing.without(func(of groupVersion) bool {
			return document.member.isForeign(of, document.from) || s.byPeers(mine, of) != fact.No || other.byPeers(theirs, of) != fact.No
		})
		return contents
	}
	if but(mine) == but(theirs) {
		return law.Entry{}
	}
	return s.entry().Broken("%s after the last change %s and %s, which run the same release, have different documents",
		lasted(f.changedBy(s.to), s.from), other.member.name, s.member.name).Shown(theirs.seq, mine.seq)
}
