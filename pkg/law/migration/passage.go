package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// encoded is a version that a server announces to store a resource in, from a revision on.
type encoded struct {
	revision int64
	version  string
}

// observeEncodings notes what members' servers announce to store a resource in.
func (f *Facts) observeEncodings(r Resource, revision int64, entries []history.Entry) {
	of := f.encodings[r]
	if of == nil {
		of = map[string][]encoded{}
		f.encodings[r] = of
	}
	for _, e := range entries {
		if f.MemberOfServer(e.ServerID) == "" {
			continue
		}
		if all := of[e.ServerID]; len(all) == 0 || all[len(all)-1].version != e.Encoding {
			of[e.ServerID] = append(all, encoded{revision, e.Encoding})
		}
	}
}

// passage is how the objects of one resource came to another version, and what happened on
// the way. How far they are is read from what is stored in etcd.
type passage struct {
	of Resource
	// before is how many were stored in another version than the agreed one when a
	// migration of them began, at most; rewritten how many migrations stored in another
	// version; and after how many there were, at most, when one succeeded and all were in
	// the agreed version.
	before, rewritten, after int64
	// upgraded are the members that came to store the version of that success after nearly
	// all objects were there.
	upgraded int64
	// killed are the shares in percent of objects that were migrated when the controller
	// was killed, and halfway those at losses of the agreement by which a migration ended
	// because a member stores another version.
	killed, halfway []int64
	// servers counts the API servers that ended while a migration ran.
	servers int64
}

// passageOf is that of a resource. It counts what happened while nearly all of the objects
// were there that were to be migrated.
func (f *Facts) passageOf(r Resource, nearly float64) passage {
	p := passage{of: r}
	var last *Migration
	for _, m := range f.Migrations {
		if m.Of != r {
			continue
		}
		p.rewritten += int64(len(m.rewritten()))
		if target := m.target().Version; target != "" {
			n := f.storedAt(r, m.Started.Revision)
			p.before = max(p.before, n.total-n.in[target])
		}
		if n, whole := m.arrived(); whole && n >= p.after {
			p.after, last = n, m
		}
	}
	large := func(n *counts) bool { return n.total > 0 && float64(n.total) >= nearly*float64(max(p.before, p.after)) }
	for _, m := range f.Migrations {
		if m.Of == r && m.target().Version != "" {
			m.follow(&p, large)
		}
	}
	if last != nil {
		p.upgraded = f.turned(r, last.finished(), f.firstWhen(r, large))
	}
	return p
}

// arrived is how many objects were stored in the agreed version when it succeeded; whole
// is whether none was in another.
func (m *Migration) arrived() (n int64, whole bool) {
	agreed := m.facts.agreement(m.Of, m.Ended.Revision).Version
	if !m.Succeeded() || agreed == "" {
		return 0, false
	}
	stored := m.facts.storedAt(m.Of, m.Ended.Revision)
	return stored.in[m.finished()], stored.in[m.finished()] == stored.total
}

// follow notes what happened while a migration ran.
func (m *Migration) follow(p *passage, large func(*counts) bool) {
	f, target := m.facts, m.target().Version
	share := func(n *counts) (int64, bool) {
		if !large(n) {
			return 0, false
		}
		return n.in[target] * 100 / n.total, true
	}
	for _, e := range m.serverEnds() {
		if _, ok := share(f.storedWhen(p.of, e.Moment)); ok {
			p.servers++
		}
	}
	for _, c := range m.crashes() {
		if percent, ok := share(f.storedWhen(p.of, c.Moment)); ok && f.kills(c) {
			p.killed = append(p.killed, percent)
		}
	}
	lost, ok := m.lost()
	if !ok || !was(m.Ended) || f.agreement(p.of, m.Ended.Revision).Version != "" {
		return
	}
	strayed := slices.ContainsFunc(f.agreement(p.of, m.Ended.Revision).Encodings, func(v string) bool { return v != target })
	if percent, ok := share(f.storedAt(p.of, lost.from.Revision)); ok && strayed {
		p.halfway = append(p.halfway, percent)
	}
}

// firstWhen is the first revision at which the objects of a resource were as many as asked
// for.
func (f *Facts) firstWhen(r Resource, large func(*counts) bool) int64 {
	n, p := newCounts(), f.population(r)
	for i := range p.changes {
		if n.apply(&p.changes[i]); large(n) {
			return p.changes[i].Revision
		}
	}
	return fact.Forever
}

// turned counts the members that came to store a version, having stored another one before,
// after a revision.
func (f *Facts) turned(r Resource, version string, after int64) int64 {
	n := int64(0)
	for _, all := range f.encodings[r] {
		if slices.ContainsFunc(all[1:], func(e encoded) bool { return e.version == version && e.revision > after }) {
			n++
		}
	}
	return n
}

// kills is whether a fault was there that ends a controller without warning.
func (f *Facts) kills(c interruption) bool {
	return slices.ContainsFunc(f.Faults, func(x *fact.Fault) bool {
		ends := x.Type == history.FaultPower || x.Action == history.FaultContainerKill && x.Component == history.ComponentControllerManager
		return ends && x.Member == c.Member && x.Injected.Seq < c.Seq && (x.Healed == nil || x.Healed.Seq > c.Seq)
	})
}

// enter enters what a passage shows.
func (p *passage) enter(l *law.Ledger, bounds law.Bounds) {
	within := func(percent int64, mark, by string) bool {
		return max(float64(percent)-bounds.Number(mark), bounds.Number(mark)-float64(percent)) <= bounds.Number(by)
	}
	add := func(tag string, n int64) {
		if n > 0 {
			l.Add(law.Entry{Ending: law.Met, About: p.of.String(), Tags: []string{tag}, Times: n})
		}
	}
	add("before", p.before)
	add("rewritten", p.rewritten)
	add("after", p.after)
	add("upgraded", p.upgraded)
	add("servers", p.servers)
	for _, percent := range p.killed {
		for _, mark := range []string{"early", "half", "late"} {
			if within(percent, mark, "killedWithin") {
				add(mark, 1)
			}
		}
	}
	for _, percent := range p.halfway {
		if within(percent, "half", "lostWithin") {
			add("halfway", 1)
		}
	}
}
