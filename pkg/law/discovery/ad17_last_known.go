package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad17: after an outage of an aggregated server its last known resources stay listed,
// marked stale (KEP-3352: "stale data may be returned because the latest data was not able
// to be fetched").
var ad17 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-17", Sources: readiness, Needs: each("kept")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, o := range f.outages {
			if !o.takesNothing() {
				continue
			}
			for _, m := range f.all() {
				for _, known := range m.knownBefore(o) {
					l.Add(known.judge(b.Of("marksWithin")))
				}
			}
		}
	},
}

// lastKnown is what a member knew of a group-version when an outage of its server began.
type lastKnown struct {
	member  *member
	outage  *outage
	process *fact.Process
	version string
	look    *look
	// over is when the member need not keep it any more, and why.
	over fact.Moment
	why  string
}

// knownBefore is what the member knew of the group-versions of an outage.
func (m *member) knownBefore(o *outage) []*lastKnown {
	d := m.facts.defined[wish{remote: true, group: o.group}]
	if d == nil {
		return nil
	}
	now := d.latest(o.since)
	if now == nil || !now.known {
		return nil
	}
	var out []*lastKnown
	for _, version := range now.versions {
		if k := m.lastCurrent(o, version, now.at); k != nil {
			known := &lastKnown{member: m, outage: o, process: k.process(), version: version, look: k}
			known.until(now)
			out = append(out, known)
		}
	}
	return out
}

// lastCurrent is the last look before an outage that showed what a group-version has; nil
// if the member did not know it, or may have believed something else since.
func (m *member) lastCurrent(o *outage, version string, since int64) *look {
	for _, k := range slices.Backward(m.polls()) {
		if k.at >= o.since || k.told() == nil || !k.ready() {
			continue
		}
		if k.from < since {
			return nil
		}
		if other := m.facts.misbehaves(o.group, k.at); other != nil {
			if other.takesNothing() {
				continue
			}
			return nil
		}
		if k.listing.current(o.group, version) {
			return k
		}
		if k.listing.version(o.group, version) != nil {
			return nil // it is not back yet
		}
	}
	return nil
}

// until finds when the member need not keep it any more.
func (n *lastKnown) until(now *change) {
	n.over, n.why = fact.Exactly(n.outage.until, 0), "the server answered again before it had to show"
	if at := now.over(); at < n.over.Latest {
		n.over, n.why = fact.Exactly(at, 0), "the APIService was changed"
	}
	if n.process.Exited != nil && n.process.Exited.Latest < n.over.Latest {
		n.over, n.why = *n.process.Exited, "the process ended, and the next one has to learn it anew"
	}
}

func (n *lastKnown) judge(bound time.Duration) law.Entry {
	o, m, name := n.outage, n.member, named(n.outage.group, n.version)
	e := law.Entry{About: fmt.Sprintf("%s since event %d", name, o.seq), Member: m.name, Began: fact.Exactly(o.bitten, o.seq)}
	for _, k := range m.between(o.since, n.over.Earliest) {
		found, wrong := k.told().version(o.group, n.version), ""
		switch {
		case k.told() == nil || k.process() != n.process || !k.ready() || m.facts.changing(o.group, k.from, k.last):
			continue
		case found == nil:
			wrong = "does not list it any more"
		case found.Freshness == history.FreshnessStale && found.Inventory != n.inventory():
			wrong = "has lost what it knew of its resources"
		default:
			continue
		}
		e.Began, e.Ending, e.Evidence = k.moment(), law.Broken, law.Evidence(n.look.seq, o.seq, k.seq)
		e.Why = fmt.Sprintf("the server of %s is lost (%s), and %s %s", name, o.action, m.name, wrong)
		return e
	}
	if o.bitten == 0 {
		e.Began, e.Ending, e.Why = fact.Exactly(o.since, o.seq), law.Excused, "no request met the outage"
		return e
	}
	e, _ = (&owed{
		Entry: e, member: m, bound: bound, over: n.over, why: n.why,
		fits: func(k *look) bool {
			found := k.told().version(o.group, n.version)
			return found != nil && found.Freshness == history.FreshnessStale && found.Inventory == n.inventory()
		},
		breach: func(took time.Duration, last string) string {
			return fmt.Sprintf("the server of %s is lost (%s), and %s does not mark it stale after %s%s", name, o.action, m.name, took, lately(last))
		},
		tags: func(*look) []string { return []string{"kept"} },
	}).end(m.facts.Over())
	return e
}

func (n *lastKnown) inventory() string {
	return n.look.listing.version(n.outage.group, n.version).Inventory
}
