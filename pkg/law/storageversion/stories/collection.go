package stories

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	unknownServer = "apiserver-evenkeel-unknown"
	otherServer   = "apiserver-evenkeel-visitor"
	ghostsName    = "ghosts.evenkeel.dev.ships"
	racesName     = "races.evenkeel.dev.ships"
	configName    = "core.configmaps"

	versionsPath = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"
	leasesPath   = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
)

// collectionBuilder is a control plane whose collector does everything right.
type collectionBuilder struct {
	*builder
	// managers are the members whose controller manager runs.
	managers map[*story.Member]bool
}

// collectionStory is a run in which what departed servers have left is cleaned up
// as it should be.
func collectionStory() []history.Event {
	y := &collectionBuilder{builder: newBuilder(), managers: map[*story.Member]bool{}}
	cp1, cp2, cp3 := y.Members[0], y.Members[1], y.Members[2]
	y.boot()
	for _, m := range y.Members {
		y.managerProcess(m, history.ProcessStarted)
	}
	y.holdLeaderLease(cp1)
	y.hold("booted")
	y.replace(2, "upgrade", cp3, "1.3")
	y.hold("ahead")
	y.depart(cp3)
	y.Advance(2000)
	y.collect()
	y.objectOfUnknownServer()
	y.Advance(40_000)
	y.RenewIdentity(cp1)
	y.join(otherServer)
	y.failLookups(cp1)
	y.raceRemovals(cp1)
	y.stopManagers(cp2, cp1, cp3)
	y.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return y.Events
}

// managerProcess is a change in the life of a member's controller manager, of which each
// has one process at a time.
func (y *collectionBuilder) managerProcess(m *story.Member, change string) {
	p := history.Process{Component: history.ComponentControllerManager, Change: change, Instance: 1, PID: 500, Release: m.Release}
	if change == history.ProcessExited {
		p.Exit, p.Expected = "exit status 0", true
	}
	y.managers[m] = change == history.ProcessStarted
	y.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &p})
}

// holdLeaderLease has the controller manager of a member hold the Lease of the leader.
func (y *collectionBuilder) holdLeaderLease(m *story.Member) {
	const name = "kube-controller-manager"
	y.Store("/registry/leases/kube-system/"+name, "coordination.k8s.io/v1", "Lease", "kube-system/"+name, history.Stored{
		Lease: &history.Lease{Holder: fmt.Sprintf("%s_%d", m.Name, m.Instance), Duration: 15, Renewed: story.Epoch.Add(time.Duration(y.Now))},
	})
}

// depart stops a member for good, and takes its Lease away.
func (y *collectionBuilder) depart(m *story.Member) {
	y.Step(4, "stop", history.PhaseBegin, m, "")
	if y.managers[m] {
		y.managerProcess(m, history.ProcessExited)
	}
	y.Exit(m, "exit status 0", true)
	y.Step(4, "stop", history.PhaseEnd, m, "")
	y.Step(5, "tamper", history.PhaseBegin, nil, "")
	y.DeleteIdentity(m.ServerID())
	m.Left = true
	y.Step(5, "tamper", history.PhaseEnd, nil, "")
}

// collect takes out of all objects what servers have left there that take part no
// more.
func (y *collectionBuilder) collect() {
	for _, r := range story.Hosted {
		if y.removeStaleEntries(story.StorageVersionName(r)) {
			y.Publish(story.StorageVersionName(r))
			y.Advance(5)
		}
	}
}

// removeStaleEntries is whether there was anything to take out.
func (y *collectionBuilder) removeStaleEntries(name string) bool {
	sv := y.StorageVersions[name]
	before := len(sv.Entries)
	sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return !y.Participates(e.ServerID) })
	y.UpdateAgreement(sv)
	return len(sv.Entries) < before
}

// objectOfUnknownServer makes an object in which only a server has an entry that does not exist,
// and has it removed.
func (y *collectionBuilder) objectOfUnknownServer() {
	key := "/registry/storageversions/" + ghostsName
	y.StorageVersions[ghostsName] = &history.StorageVersion{}
	y.Publish(ghostsName)
	y.addEntry(ghostsName, unknownServer)
	y.Advance(1000)
	delete(y.StorageVersions, ghostsName)
	y.Delete(key, ghostsName)
}

// addEntry has the harness put the entry of a server into an object, through cp2.
func (y *collectionBuilder) addEntry(name, id string) {
	sv := y.StorageVersions[name]
	version := name[:len(name)-len(".ships")] + "/v1"
	e := history.Entry{Encoding: version, Decodable: []string{version}, Served: []string{version}}
	if len(sv.Entries) > 0 {
		e = sv.Entries[0]
	}
	e.ServerID = id
	sv.Entries = append(sv.Entries, e)
	y.UpdateAgreement(sv)
	from := y.Now
	y.Advance(2)
	y.Publish(name)
	y.Emit(history.Event{Kind: history.KindRequest, Member: "cp2", From: from, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: "internal.apiserver.k8s.io", Version: "v1alpha1",
		Resource: "storageversions/status", Name: name, Code: 200, ResourceVersion: y.Revision,
	}})
	y.Advance(20)
}

// join has a guest take part.
func (y *collectionBuilder) join(id string) {
	y.Store("/registry/leases/kube-system/"+id, "coordination.k8s.io/v1", "Lease", "kube-system/"+id, history.Stored{
		Lease: &history.Lease{Holder: id + "_story", Duration: 86400, Renewed: story.Epoch.Add(time.Duration(y.Now)), Identity: true},
	})
	y.OtherServers = append(y.OtherServers, id)
	y.Advance(100)
}

// fault is a phase of a fault that hits requests of a member's controller
// manager.
func (y *collectionBuilder) fault(m *story.Member, id, action string, phase history.Phase, proof string) {
	y.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: &history.Fault{
		ID: id, Type: history.FaultHTTP, Action: action, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
	}})
}

// exchange is a request that a fault hit, and that came so long ago.
func (y *collectionBuilder) exchange(m *story.Member, came int64, x history.InterceptedRequest) {
	x.Component = history.ComponentControllerManager
	y.Emit(history.Event{Kind: history.KindInterceptedRequest, Member: m.Name, From: came, InterceptedRequest: &x})
}

// failLookups has the look-ups of the leader fail while there is something to clean up.
func (y *collectionBuilder) failLookups(m *story.Member) {
	const id = "collector-blind-1"
	y.fault(m, id, history.FaultHTTPReplace, history.PhaseInject, "")
	y.addEntry(configName, otherServer)
	y.addEntry(configName, unknownServer)
	for i := range 6 {
		came := y.Now
		y.Advance(3)
		y.exchange(m, came, history.InterceptedRequest{Fault: id, Method: "GET", Path: leasesPath, Sent: true, Code: 500})
		if i == 0 {
			y.fault(m, id, history.FaultHTTPReplace, history.PhaseWitness, "it hit a request")
		}
		y.Advance(100)
	}
	y.fault(m, id, history.FaultHTTPReplace, history.PhaseHeal, "")
	y.clean(configName)
}

// clean takes out what is stale in an object.
func (y *collectionBuilder) clean(name string) {
	y.Advance(200)
	y.removeStaleEntries(name)
	y.Publish(name)
}

// raceRemovals holds back a removal and an update until a guest has reported in the same
// object; both are refused then.
func (y *collectionBuilder) raceRemovals(m *story.Member) {
	held := func(id, method, path string, meanwhile func()) {
		y.fault(m, id, history.FaultHTTPDelay, history.PhaseInject, "")
		came := y.Now
		y.fault(m, id, history.FaultHTTPDelay, history.PhaseWitness, "it hit a request")
		y.Advance(500)
		meanwhile()
		y.Advance(2500)
		y.exchange(m, came, history.InterceptedRequest{Fault: id, Method: method, Path: path, Held: 3000 * story.Millisecond, Sent: true, Code: 409})
		y.fault(m, id, history.FaultHTTPDelay, history.PhaseHeal, "")
	}
	y.StorageVersions[racesName] = &history.StorageVersion{}
	y.Publish(racesName)
	y.addEntry(racesName, unknownServer)
	held("collector-slow-deletes-2", "DELETE", versionsPath+racesName, func() { y.addEntry(racesName, otherServer) })
	y.clean(racesName)
	const secrets = "core.secrets"
	y.addEntry(secrets, unknownServer)
	held("collector-slow-updates-3", "PUT", versionsPath+secrets+"/status", func() { y.addEntry(secrets, otherServer) })
	y.clean(secrets)
}

// stopManagers stops all controller managers, has one member come back and go for good, and
// starts another one when no other member runs.
func (y *collectionBuilder) stopManagers(starts, stops, departs *story.Member) {
	departs.Left = false
	y.restart(departs, "1.2")
	for _, m := range []*story.Member{starts, stops} {
		y.managerProcess(m, history.ProcessExited)
	}
	y.depart(departs)
	y.Exit(stops, "exit status 0", true)
	y.Exit(starts, "signal: killed", true)
	y.Start(starts, starts.Release)
	y.AnswerReady(starts, 500, false)
	y.RenewIdentity(starts)
	for _, r := range story.Hosted {
		y.clean(story.StorageVersionName(r))
	}
	y.AnswerReady(starts, 200, true)
	y.Advance(3000)
	y.RenewIdentity(starts)
}
