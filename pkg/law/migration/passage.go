package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// passage is how the objects of one resource came to another version, and what happened on
// the way, by the tags of what SVM-16 needs. How far they are is read from what is stored
// in etcd.
type passage struct {
	*Facts
	of     Resource
	bounds law.Bounds
	// counts are by tag: before is how many objects were stored in another version than the
	// agreed one when a migration of them began, at most; rewritten how many migrations
	// stored in another version; after how many there were, at most, when one succeeded and
	// all were in the agreed version.
	counts map[string]int64
}

// largestPassage enters the passage of the resource with the most objects.
func largestPassage(f *Facts, l *law.Ledger, bounds law.Bounds) {
	var largest passage
	for _, r := range f.resources() {
		p := passage{f, r, bounds, map[string]int64{}}
		p.follow()
		if a, b := p.counts, largest.counts; a["after"] > b["after"] || a["after"] == b["after"] && a["before"] > b["before"] {
			largest = p
		}
	}
	for _, tag := range law.SortedKeys(largest.counts) {
		l.Add(tally(law.Of(largest.of.String(), f.Over()), largest.counts[tag], tag))
	}
}

func (p *passage) follow() {
	begun := p.begunOf(p.of)
	var last *Migration
	for _, m := range begun {
		p.counts["rewritten"] += int64(len(m.rewritten()))
		if target := m.target().Version; target != "" {
			n := p.storedAt(p.of, m.Started.Revision)
			p.counts["before"] = max(p.counts["before"], n.total-n.in[target])
		}
		if !m.Succeeded() || p.agreement(p.of, m.Ended.Revision).Is.Version == "" {
			continue
		}
		if n := p.storedAt(p.of, m.Ended.Revision); n.in[m.finished()] == n.total && n.total >= p.counts["after"] {
			p.counts["after"], last = n.total, m
		}
	}
	for _, m := range begun {
		if m.target().Version != "" {
			p.disturbed(m)
		}
	}
	if last != nil {
		p.counts["upgraded"] = p.turned(last.finished(), p.firstLarge())
	}
}

// large is whether nearly all of the objects were there that were to be migrated: what
// happened at another time does not count.
func (p *passage) large(n counts) bool {
	return n.total > 0 && float64(n.total) >= p.bounds.Number("nearly")*float64(max(p.counts["before"], p.counts["after"]))
}

// disturbed notes what happened while a migration ran: the ends of API servers, the kills
// of its controller by the share of objects that were migrated, and a loss of the
// agreement by which it ended because a member stores another version.
func (p *passage) disturbed(m *Migration) {
	target := m.target().Version
	near := func(n counts, mark, by string) bool {
		if !p.large(n) {
			return false
		}
		percent, at := float64(n.in[target]*100/n.total), p.bounds.Number(mark)
		return max(percent-at, at-percent) <= p.bounds.Number(by)
	}
	told := func(e *fact.Process) counts { return p.storedAt(p.of, p.RevisionBy(e.Exited.Latest)) }
	p.counts["servers"] += int64(len(fact.Where(m.ends(history.ComponentAPIServer), func(e *fact.Process) bool { return p.large(told(e)) })))
	for _, crash := range fact.Where(m.crashes(), p.killed) {
		for _, mark := range []string{"early", "half", "late"} {
			if near(told(crash), mark, "killedWithin") {
				p.counts[mark]++
			}
		}
	}
	lost, ok := m.lost()
	now := p.agreement(p.of, m.Ended.Revision).Is
	strayed := slices.ContainsFunc(now.Encodings, func(v string) bool { return v != target })
	if ok && was(m.Ended) && now.Version == "" && strayed && near(p.storedAt(p.of, lost.from.Revision), "half", "lostWithin") {
		p.counts["halfway"]++
	}
}

// firstLarge is the first revision at which nearly all of the objects were there.
func (p *passage) firstLarge() int64 {
	n, changes := counts{in: map[string]int64{}}, p.population(p.of).changes
	for i := range changes {
		if n.apply(&changes[i]); p.large(n) {
			return changes[i].Revision
		}
	}
	return fact.Forever
}

// turned counts the members that came to store a version, having stored another one before,
// after a revision.
func (p *passage) turned(version string, after int64) int64 {
	turned := fact.Where(p.Members(), func(member string) bool {
		before := version
		return slices.ContainsFunc(p.StorageVersion(p.of.storageVersion()).Entry(p.ServerID(member)).All(), func(c fact.EntryChange) bool {
			if !c.There {
				return false
			}
			turns := before != version && c.Is.Encoding == version && c.Revision > after
			before = c.Is.Encoding
			return turns
		})
	})
	return int64(len(turned))
}

// killed is whether a fault was there that ends a controller without warning.
func (p *passage) killed(crash *fact.Process) bool {
	return slices.ContainsFunc(p.Faults, func(x *fact.Fault) bool {
		ends := x.Type == history.FaultPower || x.Action == history.FaultContainerKill && x.Component == history.ComponentControllerManager
		return ends && x.Member == crash.Member && x.Injected.Seq < crash.Exited.Seq && (x.Healed == nil || x.Healed.Seq > crash.Exited.Seq)
	})
}
