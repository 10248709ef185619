package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// passage is how the objects of one resource came to another version, by what is stored in
// etcd, and what happened on the way.
type passage struct {
	*Facts
	of     Resource
	bounds law.Bounds
	// counts are by the tags of what SVM-16 needs: before is how many objects were stored in
	// an old version when a migration began, at most, and after how many when one succeeded
	// and all were in the agreed version, which is to.
	counts map[string]int64
	to     string
}

// largestPassage enters the passage of the resource with the most objects.
func largestPassage(f *Facts, l *law.Ledger, bounds law.Bounds) {
	var largest passage
	for _, r := range f.resources() {
		p := passage{f, r, bounds, map[string]int64{}, ""}
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
	begun := fact.Where(p.begunOf(p.of), func(m *Migration) bool { return m.target().Version != "" })
	for _, m := range begun {
		n, end := p.storedAt(p.of, m.Started.Revision), p.storedAt(p.of, m.Ended.Revision)
		p.counts["rewritten"] += int64(len(m.rewritten()))
		p.counts["before"] = max(p.counts["before"], n.total-n.in[m.target().Version])
		if m.Succeeded() && p.agreement(p.of, m.Ended.Revision).Is.Version != "" && end.in[m.finished()] == end.total && end.total >= p.counts["after"] {
			p.counts["after"], p.to = end.total, m.finished()
		}
	}
	for _, m := range begun {
		p.disturbed(m)
	}
	p.counts["upgraded"] = int64(len(fact.Where(p.Members(), p.turned)))
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
	told := func(e *fact.Process) counts { return p.storedAt(p.of, p.RevisionBy(e.Exited.Latest)) }
	near := func(n counts, mark, by string) bool {
		share, at := float64(n.in[m.target().Version]*100/max(n.total, 1)), p.bounds.Number(mark)
		return p.large(n) && max(share-at, at-share) <= p.bounds.Number(by)
	}
	for _, e := range m.ends(history.ComponentAPIServer, fact.Yes) {
		if p.large(told(e)) {
			p.counts["servers"]++
		}
	}
	for _, crash := range fact.Where(m.crashes(fact.Yes), p.killed) {
		for _, mark := range []string{"early", "half", "late"} {
			if near(told(crash), mark, "killedWithin") {
				p.counts[mark]++
			}
		}
	}
	lost, ok := m.lost()
	now := p.agreement(p.of, m.Ended.Revision).Is
	if ok && was(m.Ended) && now.Version == "" && len(now.Encodings) > 1 && near(p.storedAt(p.of, lost.from.Revision), "half", "lostWithin") {
		p.counts["halfway"]++
	}
}

// turned is whether a member came to store the new version, having stored another one
// before, while nearly all of the objects were there.
func (p *passage) turned(member string) bool {
	before := p.to
	return slices.ContainsFunc(p.StorageVersion(p.of.storageVersion()).Entry(p.ServerID(member)).All(), func(c fact.EntryChange) bool {
		if !c.There {
			return false
		}
		turns := before != p.to && c.Is.Encoding == p.to && p.large(p.storedAt(p.of, c.Revision))
		before = c.Is.Encoding
		return turns
	})
}

// killed is whether a fault was there that ends a controller without warning.
func (p *passage) killed(crash *fact.Process) bool {
	return slices.ContainsFunc(p.Faults, func(x *fact.Fault) bool {
		ends := x.Type == history.FaultPower || x.Action == history.FaultContainerKill && x.Component == history.ComponentControllerManager
		return ends && x.Member == crash.Member && x.Injected.Seq < crash.Exited.Seq && (x.Healed == nil || x.Healed.Seq > crash.Exited.Seq)
	})
}
