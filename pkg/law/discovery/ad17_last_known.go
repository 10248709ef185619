package discovery

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad17: after an outage of an aggregated server its last known resources stay listed,
// marked stale (KEP-3352: "stale data may be returned because the latest data was not able
// to be fetched").
var ad17 = law.Deadline[*Facts, lastKnown]{
	Row:   law.Row{ID: "AD-17", Sources: readiness, Needs: each("kept")},
	Bound: "marksWithin", Over: (*Facts).lastKnown,
	Begin:   law.Once(func(n lastKnown) fact.Moment { return fact.Exactly(max(n.outage.bitten, n.outage.since), n.outage.seq) }),
	Running: func(n lastKnown) fact.Signal { return n.member.able() },
	Looks: func(n lastKnown) []law.Look {
		return n.member.shown(n.outage.bitten, func(k *answer) bool { return k.told().stale(n.groupVersion) && n.same(k) })
	},
	Void: lastKnown.void,
	Lacking: func(n lastKnown) string {
		return fmt.Sprintf("the server of %s is lost (%s), and %s did not mark it stale", n.groupVersion, n.outage.action, n.member.name)
	},
	Breaks: lastKnown.breaks,
	Tag:    func(lastKnown, fact.Moment, fact.Moment) []string { return []string{"kept"} },
}

// lastKnown is what a member knew of a group-version when an outage of its server began.
type lastKnown struct {
	groupVersion
	member  *member
	outage  *outage
	change  *change
	process *fact.Process
	// look is the last one that showed it.
	look *answer
}

// Entry is the obligation.
func (n lastKnown) Entry() law.Entry {
	return law.Of(fmt.Sprintf("%s since event %d", n.groupVersion, n.outage.seq), n.look.moment()).By(n.member.name)
}

func (f *Facts) lastKnown() (out []lastKnown) {
	for _, o := range fact.Where(f.outages, (*outage).takesNothing) {
		for _, d := range fact.Where(f.definitionsOf(o.group), func(d *definition) bool { return d.remote && d.certain(o.since) != nil }) {
			c := d.certain(o.since)
			for _, version := range c.versions {
				for _, m := range f.all() {
					of := groupVersion{o.group, version}
					if k := m.lastCurrent(o, of, c.at); k != nil {
						out = append(out, lastKnown{of, m, o, c, k.by(), k})
					}
				}
			}
		}
	}
	return out
}

// lastCurrent is the last look before an outage that showed what a group-version has; nil
// if the member did not know it, or may have believed something else since.
func (m *member) lastCurrent(o *outage, of groupVersion, since int64) *answer {
	for _, k := range slices.Backward(m.between(since, o.since-1)) {
		if k.told() == nil || k.by() == nil {
			continue
		}
		switch other := m.facts.misbehaves(o.group, k.at); {
		case other != nil && other.takesNothing():
		case other != nil:
			return nil
		case k.listing.current(of):
			return k
		case k.listing.version(of) != nil:
			return nil // it is not back yet
		}
	}
	return nil
}

// same is whether a document has the resources that were known.
func (n lastKnown) same(k *answer) bool {
	return k.listing.version(n.groupVersion).Inventory == n.look.listing.version(n.groupVersion).Inventory
}

// over is when the member need not keep it any more.
func (n lastKnown) void() []law.Void {
	voids := law.Voids("the server answered again, or the APIService was changed, before it had to show", fact.Exactly(min(n.outage.until, n.change.over()), 0))
	if n.outage.bitten == 0 {
		voids = law.Voids("no request met the outage", fact.Exactly(n.outage.since, 0))
	}
	if e := n.process.Exited; e != nil && e.Latest < voids[0].Latest {
		return law.Ended(n.process) // the next one has to learn it anew
	}
	return voids
}

func (n lastKnown) breaks() (string, []int64) {
	until := min(n.outage.until, n.change.over())
	for _, k := range n.member.between(n.outage.since, until) {
		if k.told() == nil || k.by() != n.process || n.member.facts.changing(n.group, k.from, k.at) {
			continue
		}
		wrong := ""
		if k.listing.version(n.groupVersion) == nil {
			wrong = "does not list it any more"
		} else if k.listing.stale(n.groupVersion) && !n.same(k) {
			wrong = "has lost what it knew of its resources"
		}
		if wrong != "" {
			return fmt.Sprintf("the server of %s is lost (%s), and %s %s", n.groupVersion, n.outage.action, n.member.name, wrong), []int64{n.look.seq, n.outage.seq, k.seq}
		}
	}
	return "", nil
}
