package check

import "github.com/evenkeel/evenkeel/pkg/history"

// passage is how the objects of one resource came to another version, and what came in
// between. How far they are is read from what lies in etcd.
type passage struct {
	// lying is how many objects lie in each version, and full the revision at which
	// they were as many as are asked for; 0 before.
	lying lying
	full  int64
	// begun is the first migration of them that began.
	begun *migrationSeen
	// before is how many lay in another version than the agreed one when a migration
	// of them began, at most; rewritten how many migrations wrote in another version;
	// and after how many there were, at most, when one succeeded and all lay in the
	// agreed version.
	before, rewritten, after int64
	// upgraded are the members that came to store the version of that success after
	// the objects were there.
	upgraded int64
	// killed counts the kills of the controller that migrated, at each of killedAt.
	killed [len(killedAt)]int64
	// servers counts the API servers that ended while a migration ran.
	servers int64
	// parted is the share in percent that each migration had come to when it lost its
	// agreement, and halfway counts those that had come about half way and ended without
	// one, with a member that had come to store another version.
	parted  map[*migrationSeen]int64
	halfway int64
}

func newPassage(lying lying) *passage {
	return &passage{lying: lying, parted: map[*migrationSeen]int64{}}
}

// share in percent of the objects that lie in a version; large is whether they are as
// many as are asked for.
func (p *passage) share(version string) (percent int64, large bool) {
	total := p.lying.total()
	if total == 0 {
		return 0, false
	}
	return p.lying[version] * 100 / total, total >= LargeMigration
}

// touch takes a change of an object.
func (p *passage) touch(t *objectTouch) {
	if t.now != nil && p.full == 0 && p.lying.total() >= LargeMigration {
		p.full = t.now.revision
	}
}

// begin takes the start of a migration.
func (p *passage) begin(m *migrationSeen) {
	if p.begun == nil {
		p.begun = m
	}
	p.before = max(p.before, p.lying.total()-p.lying[m.target])
}

// follow takes an event while a migration runs.
func (p *passage) follow(w *World, ev *history.Event, m *migrationSeen) {
	percent, large := p.share(m.target)
	if !large {
		return
	}
	if m.lost.seq == ev.Seq {
		p.parted[m] = percent
	}
	if ev.Process == nil || ev.Process.Change != history.ProcessExited {
		return
	}
	if ev.Process.Component == history.ComponentAPIServer {
		p.servers++
	}
	if m.crashed.seq != ev.Seq || !w.kills(ev.Member, ev.Process.Component) {
		return
	}
	for i, mark := range killedAt {
		if about(percent, mark, killedWithin) {
			p.killed[i]++
		}
	}
}

// part takes the end of a migration that has lost its agreement.
func (p *passage) part(w *World, m *migrationSeen) {
	percent, large := p.parted[m]
	if large && !m.back && about(percent, halfWay, halfWayWithin) && w.strayed(m) {
		p.halfway++
	}
}

// succeed takes a success after which all objects lie in the agreed version.
func (p *passage) succeed(w *World, gr groupResource, target string) {
	if p.lying[target] < p.after {
		return
	}
	p.after, p.upgraded = p.lying[target], 0
	v := w.versions[objectName(gr.group, gr.resource)]
	if v == nil || p.full == 0 {
		return
	}
	for id, entries := range v.entries {
		if w.memberOf[id] != "" && entries.turned(target, p.full) {
			p.upgraded++
		}
	}
}

// turned is whether a server came to store a version, having stored another one
// before, after a revision.
func (h *entryHistory) turned(version string, after int64) bool {
	stored := ""
	for _, change := range h.changes {
		if !change.present {
			continue
		}
		now := change.entry.Encoding
		if change.revision > after && now == version && stored != "" && stored != now {
			return true
		}
		stored = now
	}
	return false
}

// strayed is whether a member has come to store another version than a migration's
// while that ran.
func (w *World) strayed(m *migrationSeen) bool {
	v := w.versions[objectName(m.gr.group, m.gr.resource)]
	if v == nil {
		return false
	}
	for id, entries := range v.entries {
		last := entries.last()
		if w.memberOf[id] != "" && last.present && last.entry.Encoding != m.target && last.revision > m.started.revision {
			return true
		}
	}
	return false
}

func about(percent, mark, within int64) bool { return percent >= mark-within && percent <= mark+within }

// kills is whether a fault that ends a component of a member without warning is there.
func (w *World) kills(member, component string) bool {
	for _, f := range w.faults {
		if f.Member != member || f.Healed {
			continue
		}
		if f.Type == history.FaultPower || f.Action == history.FaultContainerKill && f.Component == component {
			return true
		}
	}
	return false
}
