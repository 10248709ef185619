package discovery

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// While a server of the harness misbehaves (AD-22) or a foreign one is in trouble (AD-26),
// each ready member goes on to list the group-versions of its release as it did when all
// was quiet, and all that the harness has defined and that can be there.

// comparison is a look at a ready member with what it harms.
type comparison struct {
	*answer
	process *fact.Process
	// trouble is the foreign server in trouble, nil without one; outages are those of servers
	// of the harness.
	trouble *foreignThing
	outages []*outage
	// base is the last look when all was quiet at a member of the same program, and all were
	// alike: what only peers host goes when they do. It is nil where there is none. Alike is
	// whether all members still are.
	base  *answer
	alike bool
	harms []harm
	// aggregated is whether an aggregated server of the harness is current in it.
	aggregated bool
}

// harm is what is wrong with a document, in words.
type harm struct {
	what string
	// before is the number of the event that shows what has to be listed; 0 where the document
	// lists what it must not.
	before int64
}

// comparisons are those of all looks at the document of all groups, in the order of time.
func (f *Facts) comparisons() []*comparison {
	type key struct{}
	return fact.Cached(f.History, key{}, func() []*comparison {
		b := &baseline{facts: f, quiet: map[string]*answer{}, current: map[*fact.Process]map[groupVersion]int64{}}
		var out []*comparison
		for _, k := range f.looks {
			if p := k.by(); p != nil && k.Path == groupsPath {
				c := &comparison{answer: k, process: p, trouble: f.trouble(k.from, k.at), outages: f.active(k.from, k.at)}
				b.compare(c)
				out = append(out, c)
			}
		}
		return out
	})
}

// baseline is what members have to list.
type baseline struct {
	facts *Facts
	// quiet are the last looks when all was quiet, by program.
	quiet map[string]*answer
	// current is when a process called current last what the harness has defined.
	current map[*fact.Process]map[groupVersion]int64
}

// program names what processes run that must host the same.
func program(p *fact.Process) string { return p.Release + " " + strings.Join(p.Off, " ") }

// alike is whether every process that lives must host what this one does.
func (f *Facts) alike(p *fact.Process, at int64) bool {
	return !slices.ContainsFunc(f.Members(), func(name string) bool {
		other := f.LastProcess(name, history.ComponentAPIServer, at)
		return other != nil && other.Alive().At(at) != fact.No && program(other) != program(p)
	})
}

func (b *baseline) compare(c *comparison) {
	if c.told() == nil {
		if c.Code >= 400 && !c.busy() {
			c.harms = append(c.harms, harm{"answers " + strconv.Itoa(c.Code) + " for the discovery document", c.seq})
		}
		return
	}
	c.base, c.alike = b.quiet[program(c.process)], b.facts.alike(c.process, c.at)
	if c.alike && len(c.outages) == 0 && (c.trouble == nil || c.base == nil) {
		b.quiet[program(c.process)] = c.answer
	}
	if c.base != nil && (len(c.outages) > 0 || c.trouble != nil) {
		c.compareBuiltin()
		c.compareAdded()
	}
	b.compareDefined(c)
}

// left is whether a group-version is not the member's own, or may be changing.
func (c *comparison) left(of groupVersion) bool {
	return c.member.isForeign(of, c.from) || c.base != nil && c.member.isForeign(of, c.base.from) || len(c.member.facts.definitionsOf(of.group)) > 0
}

func (c *comparison) compareBuiltin() {
	for _, of := range c.base.listing.names {
		if what := c.listing.otherwise(c.base.listing, of, c.alike); what != "" && !c.left(of) {
			c.harms = append(c.harms, harm{what, c.base.seq})
		}
	}
}

// otherwise says how a group-version is not as in another listing, in which it is: it may
// only have become current since. Its resources have to be the same where that is asked for.
func (l *listing) otherwise(than *listing, of groupVersion, same bool) string {
	before, found := than.version(of), l.version(of)
	switch {
	case found == nil:
		return "does not list " + of.String()
	case found.Freshness != before.Freshness && found.Freshness != history.FreshnessCurrent:
		return "calls " + of.String() + " " + strconv.Quote(found.Freshness)
	case found.Freshness == before.Freshness && found.Inventory != before.Inventory && same:
		return "lists other resources in " + of.String()
	}
	return ""
}

func (c *comparison) compareAdded() {
	for _, of := range c.listing.names {
		if c.alike && c.base.listing.version(of) == nil && !c.mayHave(of) {
			c.harms = append(c.harms, harm{what: "lists " + of.String() + ", which was never defined"})
		}
		for _, name := range c.undefined(of) {
			c.harms = append(c.harms, harm{what: "lists " + name + " in " + of.String() + ", which was never defined"})
		}
	}
}

// mayHave is whether a group-version that was not there before may be: it is foreign, or was
// defined since.
func (c *comparison) mayHave(of groupVersion) bool {
	if f := c.member.facts; len(f.definitionsOf(of.group)) > 0 {
		return f.foreignIn(of.group) || c.member.wanted(of, c.from, c.at, anyDefinition)
	}
	return c.left(of)
}

// undefined are the resources of a group that has none but custom ones of the harness, and
// which it never defined.
func (c *comparison) undefined(of groupVersion) (names []string) {
	f := c.member.facts
	if len(f.definitionsOf(of.group)) == 0 || f.shared(of.group) || f.foreignIn(of.group) {
		return nil
	}
	for _, r := range c.listing.resources(of) {
		if f.find(false, of.group, r.Name) == nil {
			names = append(names, r.Name)
		}
	}
	return names
}

// compareDefined looks for what the harness has defined long enough ago: custom resources,
// and aggregated servers that answer.
func (b *baseline) compareDefined(c *comparison) {
	f, current := b.facts, b.current[c.process]
	if current == nil {
		current = map[groupVersion]int64{}
		b.current[c.process] = current
	}
	for _, d := range f.definitions {
		now := d.certain(c.at)
		if now == nil {
			continue
		}
		for _, version := range now.versions {
			of := groupVersion{d.group, version}
			if c.listing.current(of) {
				current[of], c.aggregated = c.from, c.aggregated || d.remote && f.misbehaves(d.group, c.at) == nil
			} else if c.trouble != nil || len(c.outages) > 0 {
				c.lacksDefined(now, of, current[of])
			}
		}
	}
}

// lacksDefined judges a group-version that is not current.
func (c *comparison) lacksDefined(now *change, of groupVersion, current int64) {
	f, d := c.member.facts, now.of
	if f.misbehaves(d.group, c.at) != nil || !d.remote && f.shared(d.group) || f.changing(d.group, c.from, c.at) {
		return
	}
	listed, must := c.must(now, current)
	switch found := c.listing.version(of); {
	case found == nil && listed:
		c.harms = append(c.harms, harm{"does not list " + of.String(), now.seq})
	case found != nil && must && found.Freshness != history.FreshnessCurrent:
		c.harms = append(c.harms, harm{"calls " + of.String() + " " + strconv.Quote(found.Freshness), now.seq})
	case found != nil && must:
		c.harms = append(c.harms, harm{"lists no resources in " + of.String(), now.seq})
	}
}

// must is whether a member has to list a group-version that the harness has defined, and
// whether as current. It lists an APIService soon. The server of one it has to fetch from
// first, which may take longer; but once a process has called it current it has no reason
// to take that back.
func (c *comparison) must(now *change, current int64) (listed, asCurrent bool) {
	changed := now.at
	for _, o := range c.member.facts.outages {
		if o.group == now.of.group && o.until <= c.at {
			changed = max(changed, o.until)
		}
	}
	from := max(changed, c.member.readySince(c.from))
	listed = current > changed || c.member.facts.shown(from, c.from)
	return listed, current > changed || listed && (!now.of.remote || c.from > from+int64(recoversWithin()))
}

// breach is the harm that a look shows as an obligation that was broken, beside what may
// have done it.
func (c *comparison) breach(h harm, beside string, seq int64) law.Entry {
	return c.entry("the document").Broken("while %s, %s %s", beside, c.member.name, h.what).Shown(h.before, seq, c.seq)
}
