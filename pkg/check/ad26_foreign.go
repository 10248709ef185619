package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad26: what the harness did not make (an APIService whose Service is missing, a server
// that flaps) takes nothing else out of discovery. While the server of a foreign APIService
// is in trouble, each ready member must go on to list the built-in group-versions of its
// release and all that the harness has defined, as current.
type ad26 struct {
	findings
	// builtin are the group-versions that a member of a release has listed as current, by
	// the release with the features that the process is without, while all members were
	// alike: what only peers host goes when they do.
	builtin map[string]map[[2]string]builtinVersion
	// shown is when a process called current last what the harness has defined.
	shown perInstance[shownVersions]
	// looks are documents that were given during the trouble, and aggregated those with an
	// aggregated server of the harness in them, which has to be kept.
	looks, aggregated tally
	complained        once
}

type shownVersions map[[2]string]int64

type builtinVersion struct {
	inventory string
	seq       int64
	// member listed it so, asked at a time.
	member string
	at     int64
}

func newAD26() *ad26 { return &ad26{builtin: map[string]map[[2]string]builtinVersion{}} }

func (c *ad26) Observe(w *World, ev *history.Event) {
	if s := w.docs.swept; s != nil && s.in != nil && s.settled {
		c.plain(w, s)
	}
	d := ev.Document
	if d == nil || d.Path != groupsPath || d.Accept != askedJSON || d.IfNoneMatch != "" || d.Code == 0 {
		return
	}
	since, ok := w.docs.knows(w, ev)
	in := w.instanceAt(ev.Member, ev)
	if !ok || in == nil {
		return
	}
	foreign := w.foreignTrouble(ev.From, ev.At)
	if d.Code != 200 {
		if foreign != nil && d.Code >= 400 && !busy(d) && c.complained.first("code"+ev.Member) {
			c.infer(w, at(foreign.seq, ev.Seq), "%s answers %d for the discovery document while %s is in trouble", ev.Member, d.Code, foreign)
		}
		return
	}
	listing := w.docs.listing(d)
	if listing == nil {
		return
	}
	if foreign == nil || !c.known(in) {
		c.learn(w, ev, in, listing)
	}
	c.defined(w, ev, in, since, listing, foreign)
	if foreign != nil {
		c.looks.add(w, ev.Member)
		c.compare(w, ev, in, listing, foreign)
	}
}

// known is whether there is something to compare a process with.
func (c *ad26) known(in *instance) bool { return c.builtin[programOf(in)] != nil }

// programOf names what processes run that must host the same.
func programOf(in *instance) string { return in.release + " " + strings.Join(in.off, " ") }

// learn notes what a member lists as current, if all members are alike.
func (c *ad26) learn(w *World, ev *history.Event, in *instance, listing *history.Listing) {
	if !w.alike(in) {
		return
	}
	known := c.builtin[programOf(in)]
	if known == nil {
		known = map[[2]string]builtinVersion{}
		c.builtin[programOf(in)] = known
	}
	for _, group := range listing.Groups {
		if w.docs.defined(group.Name) {
			continue
		}
		for _, version := range group.Versions {
			if version.Freshness == history.FreshnessCurrent && !w.isForeign(ev.Member, group.Name, version.Version, ev.From) {
				known[[2]string{group.Name, version.Version}] = builtinVersion{version.Inventory, ev.Seq, ev.Member, ev.From}
			}
		}
	}
}

// alike is whether every process that lives must host what this one does.
func (w *World) alike(in *instance) bool {
	for _, srv := range w.servers {
		if other := srv.current(); other != nil && other.exitedAt == 0 && programOf(other) != programOf(in) {
			return false
		}
	}
	return true
}

// required are the built-in group-versions that a process has to list, sorted. One that was
// foreign when it was listed first, which was told only later, is none of them.
func (c *ad26) required(w *World, in *instance) [][2]string {
	known := c.builtin[programOf(in)]
	maps.DeleteFunc(known, func(version [2]string, seen builtinVersion) bool {
		return w.docs.defined(version[0]) || w.isForeign(seen.member, version[0], version[1], seen.at)
	})
	return slices.SortedFunc(maps.Keys(known), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}

// compare looks for the built-in group-versions.
func (c *ad26) compare(w *World, ev *history.Event, in *instance, listing *history.Listing, foreign *foreignThing) {
	alike := w.alike(in)
	for _, version := range c.required(w, in) {
		before := c.builtin[programOf(in)][version]
		found := versionIn(listing, version[0], version[1])
		harm := harmed(found)
		if harm == "" && alike && found.Inventory != before.inventory {
			harm = "lists other resources in it than before"
		}
		if harm != "" {
			c.suspected(w, ev, version, harm, foreign, before.seq)
		}
	}
}

// harmed says what is wrong with what must be listed as current; empty if nothing is.
func harmed(found *history.ListedVersion) string {
	switch {
	case found == nil:
		return "does not list it"
	case found.Freshness != history.FreshnessCurrent:
		return fmt.Sprintf("calls it %q", found.Freshness)
	}
	return ""
}

// defined looks for what the harness has defined long enough ago: custom resources, and
// aggregated servers that answer.
func (c *ad26) defined(w *World, ev *history.Event, in *instance, since int64, listing *history.Listing, foreign *foreignThing) {
	kept := false
	for _, one := range w.docs.wants {
		if one.until == 0 || w.docs.misbehaves(one.group) != nil || !one.remote && w.docs.shared(one.group) {
			continue
		}
		for _, version := range one.versions {
			name := [2]string{one.group, version}
			found := versionIn(listing, one.group, version)
			current := found != nil && found.Freshness == history.FreshnessCurrent && len(w.docs.inventories[found.Inventory]) > 0
			if must := c.mustShow(w, ev, in, one, since, name); must != "" && !current && (found == nil || must == mustBeCurrent) && foreign != nil {
				harm := harmed(found)
				if harm == "" {
					harm = "lists no resources in it"
				}
				c.suspected(w, ev, name, harm, foreign, one.seq)
			}
			if current {
				c.showed(in, name, ev.From)
				kept = kept || one.remote
			}
		}
	}
	if kept && foreign != nil {
		c.aggregated.add(w, ev.Member)
	}
}

func (c *ad26) showed(in *instance, name [2]string, at int64) {
	shown := c.shown.of(in)
	if *shown == nil {
		*shown = shownVersions{}
	}
	(*shown)[name] = at
}

// What a document has to say of a group-version that the harness has defined.
const (
	mustBeListed  = "listed"
	mustBeCurrent = "current"
)

// mustShow is how a member has to list a group-version; empty while it need not. It lists
// an APIService soon. The server of one it has to fetch from first, which may take longer;
// but once a process has called it current it has no reason to take that back.
func (c *ad26) mustShow(w *World, ev *history.Event, in *instance, one *wanting, since int64, name [2]string) string {
	changed := one.until
	if b := w.docs.backends[one.group]; b != nil {
		changed = max(changed, b.until)
	}
	from := max(changed, since)
	shown := (*c.shown.of(in))[name]
	switch {
	case ev.From <= from+int64(definitionShows):
		return ""
	case !one.remote, ev.From > from+int64(recovers), shown > changed:
		return mustBeCurrent
	}
	return mustBeListed
}

func (c *ad26) suspected(w *World, ev *history.Event, version [2]string, harm string, foreign *foreignThing, before int64) {
	evidence, name := at(foreign.seq, before, ev.Seq), named(version[0], version[1])
	w.suspectVersion(ev.Member, version[0], version[1], &c.complained, ev.Member+" "+name, func() {
		c.infer(w, evidence, "%s has to list %s as current, and while %s is in trouble it %s", ev.Member, name, foreign, harm)
	})
}

// plain looks for the built-in group-versions in the list of groups that is not aggregated.
func (c *ad26) plain(w *World, s *sweep) {
	foreign, plain := w.foreignTrouble(s.from, s.to), s.plainGroups(w)
	if foreign == nil || plain == nil || !w.alike(s.in) {
		return
	}
	listing := w.docs.listing(plain.Document)
	for _, version := range c.required(w, s.in) {
		if version[0] == "" || versionIn(listing, version[0], version[1]) != nil {
			continue
		}
		before := c.builtin[programOf(s.in)][version]
		name := named(version[0], version[1])
		evidence := slices.Concat(at(foreign.seq, before.seq), at(plain.Seq))
		w.suspectVersion(s.member, version[0], version[1], &c.complained, "plain "+s.member+" "+name, func() {
			c.infer(w, evidence, "%s hosts %s, and while %s is in trouble its list of groups that is not aggregated does not have it", s.member, name, foreign)
		})
	}
}

func (c *ad26) Finish(*World) {}

func (c *ad26) Observations() []Observation {
	return []Observation{
		{What: "documents of the member with the fewest while the server of a foreign APIService was in trouble", Seen: c.looks.least(), Need: needTroubled},
		{What: "documents with an aggregated server of the harness in them of the member with the fewest meanwhile", Seen: c.aggregated.least(), Need: needTroubled},
	}
}
