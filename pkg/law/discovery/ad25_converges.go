package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad25: when changes stop, the document converges to unaggregated discovery and to that of
// the other members, and nothing stays stale. In which order things are listed is AD-12's,
// and what the document has from peers is AD-23's and AD-24's.
var ad25 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-25", Sources: definitions, Needs: append(each("equal"), law.Need{Name: "changes", Tag: "change"})},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, d := range f.definitions {
			for _, c := range fact.Where(d.changes, func(c *change) bool { return c.known }) {
				l.Met(d.String(), c.moment(), "change")
			}
		}
		latest := map[*member]*convergence{} // the last quiet look at each
		for _, s := range f.quiet() {
			if s.steady(groupsPath).told() == nil || s.plain[groupsPath] == nil {
				continue
			}
			c := &convergence{sweep: s, document: s.steady(groupsPath), ended: f.changedBy(s.to)}
			l.Add(c.judge()...)
			if c.stale == "" {
				for _, m := range f.all() {
					l.Add(c.likeOther(latest[m]))
				}
				latest[s.member] = c
			}
		}
	},
}

// convergence is a quiet look at a member.
type convergence struct {
	*sweep
	document *answer
	// ended is when the last change was made.
	ended int64
	// wrong is what differs; unfit is what cannot be compared, and stale what an aggregated
	// server may still be on its way with.
	wrong        []law.Entry
	unfit, stale string
}

func (c *convergence) judge() []law.Entry {
	for _, r := range c.rows(groupsPath) {
		c.compare(r)
	}
	c.compareDefined()
	e := law.Of("all documents", c.moment()).By(c.member.name)
	switch {
	case len(c.wrong) > 0:
		return c.wrong
	case c.unfit+c.stale != "":
		return []law.Entry{e.Excused("%s", c.unfit+c.stale)}
	}
	return []law.Entry{e.Met("equal")}
}

func (c *convergence) differs(seq int64, format string, args ...any) {
	args = append([]any{lasted(c.ended, c.from), c.member.name}, args...)
	c.wrong = append(c.wrong, law.Of("all documents", c.moment()).By(c.member.name).Broken("%s after the last change %s "+format, args...).Shown(c.document.seq, seq))
}

// compare compares what the documents have of one group-version.
func (c *convergence) compare(r *row) {
	f, own, a := c.member.facts, r.listed, r.endpoint
	switch {
	case r.listed == nil:
		if r.plain != nil && a != nil && a.Code == http.StatusOK {
			c.differs(c.plain[groupsPath].seq, "lists %s only in the list of groups that is not aggregated", r.groupVersion)
		}
		return
	case r.remote && f.behind(r.group, c.from, c.to):
		c.stale = "an aggregated server misbehaves, or did so a moment ago"
		return
	case r.listed.Freshness != history.FreshnessCurrent:
		c.notCurrent(r)
		return
	case r.byPeers == fact.Unknown:
		c.unfit = "it is not known what a peer hosts"
		return
	case r.byPeers == fact.Yes:
		if own = c.local.listing.version(r.groupVersion); own == nil {
			return
		}
	}
	if r.plain == nil {
		c.differs(c.plain[groupsPath].seq, "lists %s, but not in the list of groups that is not aggregated", r.groupVersion)
	}
	switch {
	case a == nil || a.busy():
		if !r.remote {
			c.unfit = "an endpoint gave no answer to compare with"
		}
	case a.Code == http.StatusNotFound && !a.LocalOnly && !r.remote:
		c.differs(a.seq, "lists %s, and has nothing at %s", r.groupVersion, a.Path)
	case r.told() != nil && r.told().Inventory != own.Inventory:
		c.differs(a.seq, "lists other resources in %s than %s does", r.groupVersion, a.Path)
	}
}

// notCurrent judges a group-version that is stale. A process has to fetch from an
// aggregated server first, and so has one that was frozen; and what a server was to answer
// for that is dead, of the harness or foreign, is rightly stale.
func (c *convergence) notCurrent(r *row) {
	since := c.ended
	for _, s := range c.member.serves().Spans(fact.Yes) {
		if s.Begin <= c.from {
			since = max(since, s.Begin)
		}
	}
	if r.remote && c.from < since+int64(recoversWithin()) || !r.remote && r.endpoint != nil && r.endpoint.busy() {
		c.stale = "an aggregated server may not have been asked yet"
		return
	}
	c.differs(c.document.seq, "calls %s %q", r.groupVersion, r.listed.Freshness)
}

// compareDefined looks for what the harness has defined.
func (c *convergence) compareDefined() {
	for _, d := range c.member.facts.definitions {
		now := d.certain(c.to)
		switch {
		case now == nil:
		case !d.remote:
			if wrong := now.lacks(c.document.listing, c.to); wrong != "" {
				c.differs(now.seq, "%s", wrong)
			}
		default:
			for _, version := range now.ever {
				of := groupVersion{d.group, version}
				if c.document.listing.version(of) != nil && !c.member.facts.wanted(of, c.from, c.to, anyDefinition) {
					c.differs(now.seq, "still lists %s, which was handed on to an aggregated server and is not any more", of)
				}
			}
		}
	}
}

// likeOther compares what members of one release have after the same last change, but for
// what is foreign, and what either has from peers, which each learns of at another time.
func (c *convergence) likeOther(other *convergence) law.Entry {
	if other == nil || other.member == c.member || other.ended != c.ended || other.by.Release != c.by.Release {
		return law.Entry{}
	}
	but := func(one *convergence) string {
		contents, _ := one.document.listing.without(func(of groupVersion) bool {
			return one.member.isForeign(of, one.from) || c.byPeers(c.document, of) != fact.No || other.byPeers(other.document, of) != fact.No
		})
		return contents
	}
	if but(c) == but(other) {
		return law.Entry{}
	}
	return law.Of("all documents", c.moment()).Broken("%s after the last change %s and %s, which run the same release, have different documents",
		lasted(c.ended, c.from), other.member.name, c.member.name).Shown(other.document.seq, c.document.seq)
}
