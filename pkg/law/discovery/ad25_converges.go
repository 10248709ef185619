package discovery

import (
	"fmt"
	"net/http"
	"slices"
	"time"

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
			for _, c := range d.changes {
				if c.known {
					l.Met(d.String(), c.moment(), "change")
				}
			}
		}
		latest := map[*member]*sweep{} // the last quiet look at each
		for _, s := range f.sweeps() {
			document, plain := s.steady(groupsPath), s.plain(groupsPath)
			if document == nil || document.listing == nil || plain == nil {
				continue
			}
			c := &convergence{sweep: s, facts: f, document: document, plain: plain, ended: f.changedBy(s.to)}
			c.judge(l)
			if c.stale == "" {
				c.likeOthers(l, latest)
				latest[s.member] = s
			}
		}
	},
}

// convergence is a quiet look at a member.
type convergence struct {
	*sweep
	facts           *Facts
	document, plain *answer
	// ended is when the last change was made.
	ended int64
	// wrong is what differs; unfit is what cannot be compared, and stale what an aggregated
	// server may still be on its way with.
	wrong        []law.Entry
	unfit, stale string
}

func (c *convergence) judge(l *law.Ledger) {
	c.compareAggregated()
	c.comparePlain()
	c.compareDefined()
	e := law.Entry{Ending: law.Met, About: "all documents", Member: c.member.name, Began: c.moment(), Tags: []string{"equal"}}
	for _, why := range []string{c.stale, c.unfit} {
		if why != "" {
			e.Ending, e.Why = law.Excused, why
		}
	}
	if len(c.wrong) == 0 {
		l.Add(e)
	}
	l.Entries = append(l.Entries, c.wrong...)
}

func (c *convergence) differs(seq int64, format string, args ...any) {
	c.wrong = append(c.wrong, law.Entry{
		Ending: law.Broken, About: "all documents", Member: c.member.name, Began: c.moment(), Evidence: law.Evidence(c.document.seq, seq),
		Why: fmt.Sprintf("%s after the last change %s", seconds(c.from-c.ended), fmt.Sprintf(format, args...)),
	})
}

// compareAggregated looks for what the aggregated document lists in the others.
func (c *convergence) compareAggregated() {
	answers, name := c.versions(), c.member.name
	c.document.listing.each(func(group string, v *history.ListedVersion) {
		of := named(group, v.Version)
		remote, a := c.facts.remote(group, v.Version, c.to), answers[of]
		switch {
		case c.member.isForeign(group, v.Version, c.from):
			return
		case remote && c.facts.behind(group, c.from, c.to):
			c.stale = "an aggregated server misbehaves, or did so a moment ago"
			return
		case v.Freshness != history.FreshnessCurrent:
			c.notCurrent(group, v, remote, a)
			return
		}
		if v = c.own(group, v); v == nil {
			return
		}
		if c.plain.listing.version(group, v.Version) == nil {
			c.differs(c.plain.seq, "%s lists %s, but not in the list of groups that is not aggregated", name, of)
		}
		switch {
		case a == nil || a.busy():
			if !remote {
				c.unfit = "an endpoint gave no answer to compare with"
			}
		case a.code == 404 && !a.itself && !remote:
			c.differs(a.seq, "%s lists %s, and has nothing at %s", name, of, a.path)
		case a.code == http.StatusOK:
			if told := a.listing.version(group, v.Version); told != nil && told.Inventory != v.Inventory {
				c.differs(a.seq, "%s lists other resources in %s than %s does", name, of, a.path)
			}
		}
	})
}

// own is a group-version as the server hosts it itself: of a union, as the local view has
// it; nil where only peers host it, or it is not known whether they do.
func (c *convergence) own(group string, v *history.ListedVersion) *history.ListedVersion {
	switch c.byPeers(c.document, group, v) {
	case fact.Yes:
		return c.local.listing.version(group, v.Version)
	case fact.Unknown:
		c.unfit = "it is not known what a peer hosts"
		return nil
	}
	return v
}

// notCurrent judges a group-version that is stale. A process has to fetch from an
// aggregated server first, and so has one that was frozen; and what a server was to answer
// for that is dead, of the harness or foreign, is rightly stale.
func (c *convergence) notCurrent(group string, v *history.ListedVersion, remote bool, a *answer) {
	since := c.ended
	for _, s := range c.member.serves().Spans(fact.Yes) {
		if s.Begin <= c.from {
			since = max(since, s.Begin)
		}
	}
	if remote && c.from < since+int64(recoversWithin()) || !remote && a != nil && a.busy() {
		c.stale = "an aggregated server may not have been asked yet"
		return
	}
	c.differs(c.document.seq, "%s calls %s %s", c.member.name, named(group, v.Version), quoted(v.Freshness))
}

// comparePlain looks for what the list of groups has in the aggregated document.
func (c *convergence) comparePlain() {
	answers := c.versions()
	c.plain.listing.each(func(group string, v *history.ListedVersion) {
		a := answers[named(group, v.Version)]
		if a != nil && a.code == 200 && c.document.listing.version(group, v.Version) == nil && !c.member.isForeign(group, v.Version, c.from) {
			c.differs(c.plain.seq, "%s lists %s only in the list of groups that is not aggregated", c.member.name, named(group, v.Version))
		}
	})
}

// compareDefined looks for what the harness has defined.
func (c *convergence) compareDefined() {
	for _, d := range c.facts.definitions {
		now := d.latest(c.to)
		if now == nil || !now.known {
			continue
		}
		if !d.remote {
			if wrong := c.facts.lacks(c.document.listing, now, c.to); wrong != "" {
				c.differs(now.seq, "%s %s", c.member.name, wrong)
			}
			continue
		}
		for _, version := range now.ever {
			due := slices.ContainsFunc(c.facts.definitionsOf(d.group), func(o *definition) bool {
				return o.possible(version, c.from-int64(showsWithin()), c.to)
			})
			if !due && c.document.listing.version(d.group, version) != nil {
				c.differs(now.seq, "%s still lists %s, which was handed on to an aggregated server and is not any more", c.member.name, named(d.group, version))
			}
		}
	}
}

// likeOthers compares what members of one release have after the same last change, but for
// what is foreign, and what either has from peers, which each learns of at another time.
func (c *convergence) likeOthers(l *law.Ledger, latest map[*member]*sweep) {
	for _, m := range c.facts.all() {
		other := latest[m]
		if other == nil || m == c.member || c.facts.changedBy(other.to) != c.ended || other.process.Release != c.process.Release {
			continue
		}
		document := other.steady(groupsPath)
		leftOut := func(foreign func(group, version string) bool) func(group, version string) bool {
			if !c.united(c.document) && !other.united(document) {
				return foreign
			}
			return func(group, version string) bool {
				return foreign != nil && foreign(group, version) ||
					c.byPeersAt(c.document, group, version) != fact.No || other.byPeersAt(document, group, version) != fact.No
			}
		}
		mine, _ := c.document.listing.contents(leftOut(c.member.foreignAt(c.from)))
		theirs, _ := document.listing.contents(leftOut(m.foreignAt(other.from)))
		if theirs != mine {
			l.Broken("all documents", c.moment(), law.Evidence(document.seq, c.document.seq),
				"%s after the last change %s and %s, which run the same release, have different documents", time.Duration(c.from-c.ended).Round(100*time.Millisecond), m.name, c.member.name)
		}
	}
}
