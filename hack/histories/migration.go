package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	cratesGroup     = "stores.evenkeel.dev"
	migrationPrefix = "/registry/storageversionmigrations/"
	namespacePrefix = "/registry/namespaces/"
	leaderKey       = "/registry/leases/kube-system/kube-controller-manager"
)

// ballastsResource is the one that releases store differently.
var ballastsResource = hosted[len(hosted)-1]

// voyage is a control plane that migrates as it should.
type voyage struct {
	*plane
	contents map[string]*history.Migration
	// metadata is the digest of each object's.
	metadata map[string]string
	writers  map[string]*member
}

// embark has all members up, with the controller manager of the first one leading.
func embark() *voyage {
	v := &voyage{plane: newPlane(), contents: map[string]*history.Migration{}, metadata: map[string]string{}, writers: map[string]*member{}}
	for _, m := range v.members {
		v.start(m, m.release)
		v.renew(m)
		v.report(m, ballastsResource)
		v.ready(m, 200, true)
		v.controller(m, history.ProcessStarted)
	}
	v.leads(v.members[0])
	return v
}

// migrationStory is a run in which migrations wait for the agreement, outlive
// crashes, deletions and restarts, stop when the agreement is lost, and are
// deleted.
func migrationStory() []history.Event {
	v := embark()
	cp1, cp2, cp3 := v.members[0], v.members[1], v.members[2]
	for i := range 12 {
		v.put(v.members[i%3], ballast(i))
	}
	v.ask(cp3, "unknown", "nowhere.evenkeel.dev", "phantoms")
	v.say("unknown", false, "", history.MigrationRunning, "AwaitingResource")
	v.exchange(cp1, "1.3")
	v.ask(cp1, "early", ballastGroup, "ballasts")
	v.say("early", false, "", history.MigrationRunning, "AwaitingAgreement")
	v.exchange(cp2, "1.3")
	v.pass(3000)
	v.ask(cp2, "again", ballastGroup, "ballasts")
	v.pass(30_000)
	v.exchange(cp3, "1.3")

	v.begin("early")
	for i := range 4 {
		v.rewrite(ballast(i), releases["1.3"].encoding)
	}
	v.put(cp2, ballast(4))
	for i := range 4 {
		v.put(cp1, ballast(i))
	}
	v.remove(ballast(5))
	v.pass(4000)
	v.say("early", true, "", history.MigrationRunning, "4 of 12 objects migrated")
	v.controller(cp1, history.ProcessExited)
	v.pass(2000)
	v.leads(cp2)
	for _, m := range v.members {
		v.bounce(m)
	}
	v.pass(4000)
	v.errs(cp2, history.PhaseInject)
	for i := 6; i < 12; i++ {
		v.rewrite(ballast(i), releases["1.3"].encoding)
	}
	v.errs(cp2, history.PhaseHeal)
	v.say("early", true, "", history.MigrationRunning, "12 of 12 objects migrated")
	v.end("early", history.MigrationSucceeded)
	v.put(cp3, ballast(5))
	v.begin("again")
	v.end("again", history.MigrationSucceeded)
	v.tampered(cp1, "early")
	for i := range 9 {
		v.put(v.members[i%3], ballast(i))
	}
	v.put(cp1, ballast(3))
	v.ask(cp1, "impossible", "authorization.k8s.io", "subjectaccessreviews")
	v.end("impossible", history.MigrationFailed)
	v.pass(61_000)
	v.end("unknown", history.MigrationFailed)

	v.ask(cp1, "rolled", ballastGroup, "ballasts")
	v.begin("rolled")
	v.exchange(cp3, "1.2")
	v.pass(6000) // longer than a success may be on its way
	v.end("rolled", history.MigrationFailed)
	v.exchange(cp3, "1.3")

	v.define("v1beta1", 1, "v1beta1")
	for i := range 8 {
		v.put(v.members[i%3], crate(i))
	}
	v.define("v1", 2, "v1beta1", "v1")
	v.ask(cp1, "alone", cratesGroup, "crates")
	v.mark("True")
	v.begin("alone")
	for i := range 2 {
		v.rewrite(crate(i), cratesGroup+"/v1")
	}
	v.pass(3000)
	v.drop(cp1, "alone")
	v.pass(1000)
	v.mark("False")
	v.pass(24_000)
	v.ask(cp2, "flip", cratesGroup, "crates")
	for i := range 10 {
		v.put(v.members[i%3], stowed(i))
	}
	v.begin("flip")
	for i := range 10 {
		v.remove(stowed(i))
	}
	v.deleted(namespacePrefix+"aft-hold", "aft-hold")
	for i := 2; i < 8; i++ {
		v.rewrite(crate(i), cratesGroup+"/v1")
	}
	v.define("v1", 2, "v1")
	v.end("flip", history.MigrationSucceeded)

	v.ask(cp1, "dropped", ballastGroup, "ballasts")
	v.begin("dropped")
	v.ask(cp2, "next", ballastGroup, "ballasts")
	v.pass(3000)
	v.drop(cp1, "dropped")
	v.pass(1000)
	v.begin("next")
	v.end("next", history.MigrationSucceeded)
	v.pass(3000)
	v.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.events
}

// cargo is an object of the story.
type cargo struct{ group, resource, kind, name string }

func ballast(i int) cargo {
	return cargo{ballastGroup, "ballasts", "Ballast", fmt.Sprintf("default/cargo%02d", i)}
}
func crate(i int) cargo {
	return cargo{cratesGroup, "crates", "Crates", fmt.Sprintf("default/crate%d", i)}
}

// content names what an object holds in a version: of ballasts the versions have other
// forms, of crates the same.
func (c cargo) content(version string) string {
	kind := int(c.name[len(c.name)-1]) % contents
	if c.group == cratesGroup {
		return fmt.Sprintf("crate-%d", kind)
	}
	return fmt.Sprintf("%s-%d", version[strings.LastIndex(version, "/")+1:], kind)
}

// contents are how many different ones the objects of a resource have.
const contents = 3

// stowed is in a namespace that is deleted.
func stowed(i int) cargo {
	return cargo{cratesGroup, "crates", "Crates", fmt.Sprintf("aft-hold/crate%d", i)}
}

func (c cargo) key() string { return "/registry/" + c.group + "/" + c.resource + "/" + c.name }

// put has a user write an object.
func (v *voyage) put(m *member, c cargo) {
	m.writes++
	version, class := releases[m.release].encoding, history.ClassGuarded
	if c.group == cratesGroup {
		version, class = cratesGroup+"/v1beta1", history.ClassCustom
	}
	v.metadata[c.name] = fmt.Sprintf("%s-%d", m.name, m.writes)
	from := v.now
	v.pass(2)
	revision := v.stored(c.key(), version, c.kind, c.name, history.Stored{Writer: m.name, Write: m.writes, Metadata: v.metadata[c.name], Content: c.content(version)})
	r := history.Request{Class: class, Verb: "update", Group: c.group, Version: "v1", Resource: c.resource, Name: c.name, Code: 200, Write: m.writes, ResourceVersion: revision}
	v.emit(history.Event{Kind: history.KindRequest, Member: m.name, From: from, Request: &r})
}

// rewrite is what a migration does to an object.
func (v *voyage) rewrite(c cargo, version string) {
	v.pass(140)
	v.stored(c.key(), version, c.kind, c.name, history.Stored{Metadata: v.metadata[c.name], Content: c.content(version)})
}

// remove has a user delete an object.
func (v *voyage) remove(c cargo) {
	v.deleted(c.key(), c.name)
}

// migrating is a request about a migration.
func (v *voyage) migrating(m *member, verb, name, flaw string, code int, of *history.Migration) {
	r := history.Request{Class: history.ClassMigration, Verb: verb, Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations", Name: name, Code: code, Invalid: flaw, Migrates: of}
	if code == 422 {
		r.Reason = "Invalid"
	}
	if slices.Contains([]string{history.InvalidOutcome, history.InvalidBoth, history.InvalidCheckpoint}, flaw) {
		r.Resource += "/status"
	}
	v.request(m, r)
}

// ask creates a migration, and tries what must be refused.
func (v *voyage) ask(m *member, name, group, resource string) {
	of := func(group, resource, checkpoint string) *history.Migration {
		return &history.Migration{Group: group, Resource: resource, Checkpoint: checkpoint}
	}
	v.migrating(m, "create", name+"-no-resource", history.InvalidResource, 422, of(group, "not a/name", ""))
	v.migrating(m, "create", name+"-no-group", history.InvalidGroup, 422, of("not a group", resource, ""))
	v.contents[name] = of(group, resource, "")
	v.tell(name)
	v.migrating(m, "create", name, "", 201, of(group, resource, "1"))
	v.migrating(m, "update", name, history.InvalidChange, 422, of(group, resource, ""))
}

// tampered tries to change what is final.
func (v *voyage) tampered(m *member, name string) {
	for _, flaw := range []string{history.InvalidOutcome, history.InvalidBoth, history.InvalidCheckpoint} {
		v.migrating(m, "update", name, flaw, 422, nil)
	}
}

// tell stores a migration as it is now.
func (v *voyage) tell(name string) {
	now := *v.contents[name]
	now.Conditions = slices.Clone(now.Conditions)
	v.stored(migrationPrefix+name, "storagemigration.k8s.io/v1", "StorageVersionMigration", name, history.Stored{Migration: &now})
}

// say sets a condition of a migration, and tells of it.
func (v *voyage) say(name string, is bool, checkpoint, kind, message string) {
	m := v.contents[name]
	if checkpoint != "" {
		m.Checkpoint = checkpoint
	}
	v.set(m, kind, is, message)
	v.tell(name)
	v.pass(10)
}

func (v *voyage) set(m *history.Migration, kind string, is bool, message string) {
	c := history.Condition{Type: kind, Status: "False", Transition: epoch.Add(time.Duration(v.now)).Truncate(time.Second), Reason: "Migration" + kind, Message: message}
	if is {
		c.Status = "True"
	}
	if i := slices.IndexFunc(m.Conditions, func(x history.Condition) bool { return x.Type == kind }); i >= 0 {
		m.Conditions[i] = c
		return
	}
	m.Conditions = append(m.Conditions, c)
}

// passingErrors are the answers that a link gives in the place of an API server's,
// 0 for none.
var passingErrors = []int{429, 500, 503, 504, 0}

// errs has writes of a member's controller come to errors, or ends that. What it
// tells takes no time: the rest of the story is the same without it.
func (v *voyage) errs(m *member, phase history.Phase) {
	now := v.now
	fault := func(code int, phase history.Phase, proof string) {
		action := history.FaultHTTPReplace
		if code == 0 {
			action = history.FaultHTTPAbort
		}
		v.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: &history.Fault{
			ID: fmt.Sprintf("write-%d", code), Type: history.FaultHTTP, Action: action, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
		}})
		v.now = now
	}
	for i, code := range passingErrors {
		fault(code, phase, "")
		if phase == history.PhaseHeal {
			continue
		}
		fault(code, history.PhaseWitness, "the link hit a request")
		for _, hit := range []int{6 + i%4, 7 + i%4} {
			v.emit(history.Event{Kind: history.KindExchange, Member: m.name, Exchange: &history.Exchange{
				Fault: fmt.Sprintf("write-%d", code), Component: history.ComponentControllerManager, Method: "PUT", Code: code, Sent: code != 0,
				Path: "/apis/" + ballastGroup + "/v1/namespaces/default/ballasts/" + strings.TrimPrefix(ballast(hit).name, "default/"),
			}})
			v.now = now
		}
	}
}

// begin has a migration run.
func (v *voyage) begin(name string) {
	v.pass(300)
	v.say(name, true, strconv.FormatInt(v.revision, 10), history.MigrationRunning, "0 objects migrated")
}

// end gives a migration its outcome.
func (v *voyage) end(name, outcome string) {
	v.pass(200)
	v.set(v.contents[name], history.MigrationRunning, false, "The migration has ended")
	v.say(name, true, "", outcome, "ended")
}

// drop has a user delete a migration.
func (v *voyage) drop(m *member, name string) {
	v.deleted(migrationPrefix+name, name)
	v.migrating(m, "delete", name, "", 200, nil)
}

// exchange starts a member at another release.
func (v *voyage) exchange(m *member, release string) {
	v.serverExits(m)
	v.start(m, release)
	v.report(m, ballastsResource)
	v.ready(m, 200, true)
}

// bounce restarts a member's API server as it was.
func (v *voyage) bounce(m *member) {
	v.serverExits(m)
	v.start(m, m.release)
	v.ready(m, 200, true)
}

func (v *voyage) serverExits(m *member) {
	v.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.instance, Release: m.release, Exit: "signal: killed", Expected: true,
	}})
	v.pass(300)
}

// controller is a change in the life of a member's controller manager.
func (v *voyage) controller(m *member, change string) {
	p := history.Process{Component: history.ComponentControllerManager, Change: change, Instance: 1, PID: 500, Release: m.release}
	if change == history.ProcessExited {
		p.PID, p.Exit, p.Expected = 0, "signal: killed", true
	}
	v.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &p})
}

// leads has a member's controller manager hold the Lease.
func (v *voyage) leads(m *member) {
	v.stored(leaderKey, "coordination.k8s.io/v1", "Lease", "kube-system/kube-controller-manager", history.Stored{
		Lease: &history.Lease{Holder: m.name + "_7", Duration: 15, Renewed: epoch.Add(time.Duration(v.now))},
	})
}

// define stores the definition of crates.
func (v *voyage) define(storage string, generation int64, stored ...string) {
	v.defined(history.CustomResource{Group: cratesGroup, Resource: "crates", Storage: storage, Stored: stored, Generation: generation})
}

// mark has it say whether crates are being migrated, from v1beta1 to v1.
func (v *voyage) mark(status string) {
	v.defined(history.CustomResource{Group: cratesGroup, Resource: "crates", Storage: "v1", Stored: []string{"v1beta1", "v1"}, Generation: 2, Migrating: status})
}

func (v *voyage) defined(definition history.CustomResource) {
	v.pass(50)
	v.stored("/registry/apiextensions.k8s.io/customresourcedefinitions/crates."+cratesGroup, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "crates."+cratesGroup, history.Stored{
		CustomResource: &definition,
	})
}
