package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	nobody     = "apiserver-evenkeel-nobody"
	guest      = "apiserver-evenkeel-visitor"
	ghostsName = "ghosts.evenkeel.dev.ships"
	racesName  = "races.evenkeel.dev.ships"
	configName = "core.configmaps"

	versionsPath = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"
	leasesPath   = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
)

// yard is a control plane whose collector does everything right.
type yard struct {
	*plane
	// managing are the members whose controller manager runs.
	managing map[*member]bool
}

// collectionStory is a run in which what departed servers have left is cleaned up
// as it should be.
func collectionStory() []history.Event {
	y := &yard{plane: newPlane(), managing: map[*member]bool{}}
	cp1, cp2, cp3 := y.members[0], y.members[1], y.members[2]
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
	y.joins(guest)
	y.blind(cp1)
	y.race(cp1)
	y.off(cp2, cp1, cp3)
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
	y.managing[m] = change == history.ProcessStarted
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
	if y.managing[m] {
		y.manager(m, history.ProcessExited)
	}
	y.exit(m, "exit status 0", true)
	y.step(4, "stop", history.PhaseEnd, m, "")
	y.step(5, "tamper", history.PhaseBegin, nil, "")
	y.leaves(m.id())
	m.gone = true
	y.step(5, "tamper", history.PhaseEnd, nil, "")
}

// collect takes out of all objects what servers have left there that take part no
// more.
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
	sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return !y.takesPart(e.ServerID) })
	y.agree(sv)
	return len(sv.Entries) < before
}

// ghosts makes an object in which only a server has an entry that does not exist,
// and has it removed.
func (y *yard) ghosts() {
	key := "/registry/storageversions/" + ghostsName
	y.versions[ghostsName] = &history.StorageVersion{}
	y.publish(ghostsName)
	y.adds(ghostsName, nobody)
	y.pass(1000)
	delete(y.versions, ghostsName)
	y.deleted(key, ghostsName)
}

// adds has the harness put the entry of a server into an object, through cp2.
func (y *yard) adds(name, id string) {
	sv := y.versions[name]
	version := name[:len(name)-len(".ships")] + "/v1"
	e := history.Entry{Encoding: version, Decodable: []string{version}, Served: []string{version}}
	if len(sv.Entries) > 0 {
		e = sv.Entries[0]
	}
	e.ServerID = id
	sv.Entries = append(sv.Entries, e)
	y.agree(sv)
	from := y.now
	y.pass(2)
	y.publish(name)
	y.emit(history.Event{Kind: history.KindRequest, Member: "cp2", From: from, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: "internal.apiserver.k8s.io", Version: "v1alpha1",
		Resource: "storageversions/status", Name: name, Code: 200, ResourceVersion: y.revision,
	}})
	y.pass(20)
}

// joins has a guest take part.
func (y *yard) joins(id string) {
	y.stored("/registry/leases/kube-system/"+id, "coordination.k8s.io/v1", "Lease", "kube-system/"+id, history.Stored{
		Lease: &history.Lease{Holder: id + "_story", Duration: 86400, Renewed: epoch.Add(time.Duration(y.now)), Identity: true},
	})
	y.guests = append(y.guests, id)
	y.pass(100)
}

// disturbs is a phase of a fault that hits requests of a member's controller
// manager.
func (y *yard) disturbs(m *member, id, action string, phase history.Phase, proof string) {
	y.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: &history.Fault{
		ID: id, Type: history.FaultHTTP, Action: action, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
	}})
}

// exchange is a request that a fault hit, and that came so long ago.
func (y *yard) exchange(m *member, came int64, x history.Exchange) {
	x.Component = history.ComponentControllerManager
	y.emit(history.Event{Kind: history.KindExchange, Member: m.name, From: came, Exchange: &x})
}

// blind has the look-ups of the leader fail while there is something to clean up.
func (y *yard) blind(m *member) {
	const id = "collector-blind-1"
	y.disturbs(m, id, history.FaultHTTPReplace, history.PhaseInject, "")
	y.adds(configName, guest)
	y.adds(configName, nobody)
	for i := range 6 {
		came := y.now
		y.pass(3)
		y.exchange(m, came, history.Exchange{Fault: id, Method: "GET", Path: leasesPath, Sent: true, Code: 500})
		if i == 0 {
			y.disturbs(m, id, history.FaultHTTPReplace, history.PhaseWitness, "it hit a request")
		}
		y.pass(100)
	}
	y.disturbs(m, id, history.FaultHTTPReplace, history.PhaseHeal, "")
	y.cleans(configName)
}

// cleans takes out what is stale in an object.
func (y *yard) cleans(name string) {
	y.pass(200)
	y.strip(name)
	y.publish(name)
}

// race holds back a removal and an update until a guest has reported in the same
// object; both are refused then.
func (y *yard) race(m *member) {
	held := func(id, method, path string, meanwhile func()) {
		y.disturbs(m, id, history.FaultHTTPDelay, history.PhaseInject, "")
		came := y.now
		y.disturbs(m, id, history.FaultHTTPDelay, history.PhaseWitness, "it hit a request")
		y.pass(500)
		meanwhile()
		y.pass(2500)
		y.exchange(m, came, history.Exchange{Fault: id, Method: method, Path: path, Held: 3000 * ms, Sent: true, Code: 409})
		y.disturbs(m, id, history.FaultHTTPDelay, history.PhaseHeal, "")
	}
	y.versions[racesName] = &history.StorageVersion{}
	y.publish(racesName)
	y.adds(racesName, nobody)
	held("collector-slow-deletes-2", "DELETE", versionsPath+racesName, func() { y.adds(racesName, guest) })
	y.cleans(racesName)
	const secrets = "core.secrets"
	y.adds(secrets, nobody)
	held("collector-slow-updates-3", "PUT", versionsPath+secrets+"/status", func() { y.adds(secrets, guest) })
	y.cleans(secrets)
}

// off stops all controller managers, has one member come back and go for good, and
// starts another one when nobody else is there.
func (y *yard) off(starts, stops, departs *member) {
	departs.gone = false
	y.restart(departs, "1.2")
	for _, m := range []*member{starts, stops} {
		y.manager(m, history.ProcessExited)
	}
	y.departs(departs)
	y.exit(stops, "exit status 0", true)
	y.exit(starts, "signal: killed", true)
	y.start(starts, starts.release)
	y.ready(starts, 500, false)
	y.renew(starts)
	for _, r := range hosted {
		y.cleans(objectName(r))
	}
	y.ready(starts, 200, true)
	y.pass(3000)
	y.renew(starts)
}
