package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	nobody     = "apiserver-evenkeel-nobody"
	ghostsName = "ghosts.evenkeel.dev.ships"
)

// yard is a control plane whose collector does everything right.
type yard struct {
	*plane
	// away are the members whose identity Lease is gone.
	away map[*member]bool
}

// collectionStory is a run in which what departed servers have left is cleaned up
// as it should be.
func collectionStory() []history.Event {
	y := &yard{plane: newPlane(), away: map[*member]bool{}}
	cp1, cp3 := y.members[0], y.members[2]
	y.boot()
	for _, m := range y.members {
		y.manager(m, history.ProcessStarted)
	}
	y.leads(cp1)
	y.hold("booted")
	y.replace(2, "upgrade", cp3, "1.3")
	y.hold("ahead")
	y.departs(cp3)
	y.pass(2000)
	y.collect()
	y.ghosts()
	y.pass(40_000)
	y.renew(cp1)
	y.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return y.events
}

// manager is a change in the life of a member's controller manager, of which each
// has one process at a time.
func (y *yard) manager(m *member, change string) {
	p := history.Process{Component: history.ComponentControllerManager, Change: change, Instance: 1, PID: 500, Release: m.release}
	if change == history.ProcessExited {
		p.Exit, p.Expected = "exit status 0", true
	}
	y.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &p})
}

// leads has the controller manager of a member hold the Lease of the leader.
func (y *yard) leads(m *member) {
	const name = "kube-controller-manager"
	y.stored("/registry/leases/kube-system/"+name, "coordination.k8s.io/v1", "Lease", "kube-system/"+name, history.Stored{
		Lease: &history.Lease{Holder: fmt.Sprintf("%s_%d", m.name, m.instance), Duration: 15, Renewed: epoch.Add(time.Duration(y.now))},
	})
}

// departs stops a member for good, and takes its Lease away.
func (y *yard) departs(m *member) {
	y.step(4, "stop", history.PhaseBegin, m, "")
	y.manager(m, history.ProcessExited)
	y.exit(m, "exit status 0", true)
	y.step(4, "stop", history.PhaseEnd, m, "")
	y.step(5, "tamper", history.PhaseBegin, nil, "")
	y.leaves(m.id())
	y.away[m] = true
	y.step(5, "tamper", history.PhaseEnd, nil, "")
}

func (y *yard) leaves(id string) {
	y.deleted("/registry/leases/kube-system/"+id, "kube-system/"+id)
}

func (y *yard) deleted(key, name string) {
	created := y.created[key]
	delete(y.created, key)
	y.emit(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredDelete, Key: key, Revision: y.next(), Created: created, Name: name}})
}

// collect takes out of all objects what servers have left there that are away.
func (y *yard) collect() {
	for _, r := range hosted {
		if y.strip(objectName(r)) {
			y.publish(objectName(r))
			y.pass(5)
		}
	}
}

// strip is whether there was anything to take out.
func (y *yard) strip(name string) bool {
	sv := y.versions[name]
	before := len(sv.Entries)
	sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool {
		return !slices.ContainsFunc(y.members, func(m *member) bool { return m.id() == e.ServerID && !y.away[m] })
	})
	y.parties = len(y.members) - len(y.away)
	y.agree(sv)
	return len(sv.Entries) < before
}

// ghosts makes an object in which only a server has an entry that does not exist,
// and has it removed.
func (y *yard) ghosts() {
	key := "/registry/storageversions/" + ghostsName
	version := ghostsName[:len(ghostsName)-len(".ships")] + "/v1"
	y.versions[ghostsName] = &history.StorageVersion{}
	y.publish(ghostsName)
	y.versions[ghostsName].Entries = []history.Entry{{ServerID: nobody, Encoding: version, Decodable: []string{version}, Served: []string{version}}}
	y.agree(y.versions[ghostsName])
	y.publish(ghostsName)
	y.pass(1000)
	delete(y.versions, ghostsName)
	y.deleted(key, ghostsName)
}
