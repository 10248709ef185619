package stories

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	cratesGroup     = "stores.evenkeel.dev"
	migrationPrefix = "/registry/storageversionmigrations/"
	namespacePrefix = "/registry/namespaces/"
	leaderKey       = "/registry/leases/kube-system/kube-controller-manager"
)

// ballastsResource is the one that releases store differently.
var ballastsResource = story.Hosted[len(story.Hosted)-1]

// builder is a control plane that migrates as it should.
type builder struct {
	*story.ControlPlane
	contents map[string]*history.Migration
	// metadata is the digest of each object's.
	metadata map[string]string
	writers  map[string]*story.Member
	// deleting are the objects that are being deleted.
	deleting map[string]bool
	// managers counts the processes of each member's controller manager.
	managers map[string]int
}

// newBuilder has all members up, with the controller manager of the first one leading.
func newBuilder() *builder {
	v := &builder{ControlPlane: story.NewControlPlane(), contents: map[string]*history.Migration{}, metadata: map[string]string{}, writers: map[string]*story.Member{}, managers: map[string]int{}, deleting: map[string]bool{}}
	for _, m := range v.Members {
		v.Start(m, m.Release)
		v.RenewIdentity(m)
		v.ReportResource(m, ballastsResource)
		v.AnswerReady(m, 200, true)
		v.managerProcess(m, history.ProcessStarted)
	}
	v.holdLeaderLease(v.Members[0])
	return v
}

// migrationStory is a run in which migrations wait for the agreement, outlive
// crashes, deletions and restarts, stop when the agreement is lost, and are
// deleted.
func migrationStory() []history.Event {
	v := newBuilder()
	cp1, cp2, cp3 := v.Members[0], v.Members[1], v.Members[2]
	for i := range 12 {
		v.put(v.Members[i%3], ballast(i))
	}
	v.markDeleting(ballast(deletingBallast))
	v.create(cp3, "unknown", "nowhere.evenkeel.dev", "phantoms")
	v.setCondition("unknown", false, "", history.MigrationRunning, "AwaitingResource")
	v.replace(cp1, "1.3")
	v.create(cp1, "early", story.BallastGroup, "ballasts")
	v.setCondition("early", false, "", history.MigrationRunning, "AwaitingAgreement")
	v.replace(cp2, "1.3")
	v.Advance(3000)
	v.create(cp2, "again", story.BallastGroup, "ballasts")
	v.Advance(30_000)
	v.replace(cp3, "1.3")

	v.begin("early")
	for i := range 4 {
		v.rewrite(ballast(i), story.Releases["1.3"].Encoding)
	}
	v.put(cp2, ballast(4))
	for i := range 4 {
		v.put(cp1, ballast(i))
	}
	v.remove(ballast(5))
	v.Advance(4000)
	v.setCondition("early", true, "", history.MigrationRunning, "4 of 12 objects migrated")
	v.managerProcess(cp1, history.ProcessExited)
	v.Advance(2000)
	v.managerProcess(cp1, history.ProcessStarted)
	v.holdLeaderLease(cp2)
	for _, m := range v.Members {
		v.restart(m)
	}
	v.Advance(6000) // longer than a success may be on its way
	v.failWrites(cp2, history.PhaseInject)
	for i := 6; i < 12; i++ {
		v.rewrite(ballast(i), story.Releases["1.3"].Encoding)
	}
	v.failWrites(cp2, history.PhaseHeal)
	v.setCondition("early", true, "", history.MigrationRunning, "12 of 12 objects migrated")
	v.end("early", history.MigrationSucceeded)
	v.put(cp3, ballast(5))
	v.begin("again")
	v.end("again", history.MigrationSucceeded)
	v.changeFinalFields(cp1, "early")
	for i := range 9 {
		v.put(v.Members[i%3], ballast(i))
	}
	v.put(cp1, ballast(3))
	v.create(cp1, "impossible", "authorization.k8s.io", "subjectaccessreviews")
	v.end("impossible", history.MigrationFailed)
	v.Advance(61_000)
	v.end("unknown", history.MigrationFailed)

	v.create(cp1, "rolled", story.BallastGroup, "ballasts")
	v.begin("rolled")
	v.replace(cp3, "1.2")
	v.Advance(6000) // longer than a success may be on its way
	v.end("rolled", history.MigrationFailed)
	v.replace(cp3, "1.3")

	v.define("v1beta1", 1, "v1beta1")
	for i := range crates {
		v.put(v.Members[i%3], crate(i))
	}
	v.define("v1", 2, "v1beta1", "v1")
	v.create(cp1, "alone", cratesGroup, "crates")
	v.markMigrating("True")
	v.begin("alone")
	for i := range 2 {
		v.rewrite(crate(i), cratesGroup+"/v1")
	}
	v.Advance(3000)
	v.deleteMigration(cp1, "alone")
	v.Advance(1000)
	v.markMigrating("False")
	v.Advance(24_000)
	v.create(cp2, "flip", cratesGroup, "crates")
	for i := range 10 {
		v.put(v.Members[i%3], crateInDeletedNamespace(i))
	}
	v.begin("flip")
	for i := range 10 {
		v.remove(crateInDeletedNamespace(i))
	}
	v.Delete(namespacePrefix+"aft-hold", "aft-hold")
	for i := 2; i < crates; i++ {
		v.rewrite(crate(i), cratesGroup+"/v1")
	}
	v.define("v1", 2, "v1")
	v.end("flip", history.MigrationSucceeded)

	v.create(cp1, "dropped", story.BallastGroup, "ballasts")
	v.begin("dropped")
	v.create(cp2, "next", story.BallastGroup, "ballasts")
	v.Advance(3000)
	v.deleteMigration(cp1, "dropped")
	v.Advance(1000)
	v.begin("next")
	v.end("next", history.MigrationSucceeded)
	v.Advance(3000)
	v.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.Events
}

// object is an object of the story.
type object struct{ group, resource, kind, name string }

func ballast(i int) object {
	return object{story.BallastGroup, "ballasts", "Ballast", fmt.Sprintf("default/cargo%02d", i)}
}
func crate(i int) object {
	return object{cratesGroup, "crates", "Crates", fmt.Sprintf("default/crate%d", i)}
}

// content names what an object holds in a version: of ballasts the versions have other
// forms, of crates the same.
func (c object) content(version string) string {
	kind := int(c.name[len(c.name)-1]) % contents
	if c.group == cratesGroup {
		return fmt.Sprintf("crate-%d", kind)
	}
	return fmt.Sprintf("%s-%d", version[strings.LastIndex(version, "/")+1:], kind)
}

// crates are how many there are that no namespace takes with it: more than a migration may
// write in a second.
const crates = 20

// contents are how many different ones the objects of a resource have.
const contents = 3

// crateInDeletedNamespace is in a namespace that is deleted.
func crateInDeletedNamespace(i int) object {
	return object{cratesGroup, "crates", "Crates", fmt.Sprintf("aft-hold/crate%d", i)}
}

func (c object) key() string { return "/registry/" + c.group + "/" + c.resource + "/" + c.name }

// put has a user write an object.
func (v *builder) put(m *story.Member, c object) {
	m.Writes++
	version, class := story.Releases[m.Release].Encoding, history.ClassGuarded
	if c.group == cratesGroup {
		version, class = cratesGroup+"/v1beta1", history.ClassCustom
	}
	v.metadata[c.name] = fmt.Sprintf("%s-%d", m.Name, m.Writes)
	from := v.Now
	v.Advance(2)
	revision := v.Store(c.key(), version, c.kind, c.name, history.Stored{Writer: m.Name, Write: m.Writes, Metadata: v.metadata[c.name], Content: c.content(version)})
	r := history.Request{Class: class, Verb: "update", Group: c.group, Version: "v1", Resource: c.resource, Name: c.name, Code: 200, Write: m.Writes, ResourceVersion: revision}
	v.Emit(history.Event{Kind: history.KindRequest, Member: m.Name, From: from, Request: &r})
}

// rewrite is what a migration does to an object.
func (v *builder) rewrite(c object, version string) {
	v.Advance(140)
	v.Store(c.key(), version, c.kind, c.name, history.Stored{Metadata: v.metadata[c.name], Content: c.content(version), Deleting: v.deleting[c.name]})
}

// deletingBallast is the number of the one that is being deleted, and that a finalizer holds.
const deletingBallast = 10

// markDeleting has a user delete an object that a finalizer holds.
func (v *builder) markDeleting(c object) {
	v.deleting[c.name] = true
	v.metadata[c.name] += "-deleting"
	version := story.Releases["1.2"].Encoding
	v.Store(c.key(), version, c.kind, c.name, history.Stored{Metadata: v.metadata[c.name], Content: c.content(version), Deleting: true})
}

// remove has a user delete an object.
func (v *builder) remove(c object) {
	v.Delete(c.key(), c.name)
}

// requestMigration is a request about a migration.
func (v *builder) requestMigration(m *story.Member, verb, name, flaw string, code int, of *history.Migration) {
	r := history.Request{Class: history.ClassMigration, Verb: verb, Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations", Name: name, Code: code, Invalid: flaw, Migrates: of}
	if code == 422 {
		r.Reason = "Invalid"
	}
	if slices.Contains([]string{history.InvalidOutcome, history.InvalidBoth, history.InvalidCheckpoint}, flaw) {
		r.Resource += "/status"
	}
	v.Request(m, r)
}

// create creates a migration, and tries what must be refused.
func (v *builder) create(m *story.Member, name, group, resource string) {
	of := func(group, resource, checkpoint string) *history.Migration {
		return &history.Migration{Group: group, Resource: resource, Checkpoint: checkpoint}
	}
	v.requestMigration(m, "create", name+"-no-resource", history.InvalidResource, 422, of(group, "not a/name", ""))
	v.requestMigration(m, "create", name+"-no-group", history.InvalidGroup, 422, of("not a group", resource, ""))
	v.contents[name] = of(group, resource, "")
	v.storeMigration(name)
	v.requestMigration(m, "create", name, "", 201, of(group, resource, "1"))
	v.requestMigration(m, "update", name, history.InvalidChange, 422, of(group, resource, ""))
}

// changeFinalFields tries to change what is final.
func (v *builder) changeFinalFields(m *story.Member, name string) {
	for _, flaw := range []string{history.InvalidOutcome, history.InvalidBoth, history.InvalidCheckpoint} {
		v.requestMigration(m, "update", name, flaw, 422, nil)
	}
}

// storeMigration stores a migration as it is now.
func (v *builder) storeMigration(name string) {
	now := *v.contents[name]
	now.Conditions = slices.Clone(now.Conditions)
	v.Store(migrationPrefix+name, "storagemigration.k8s.io/v1", "StorageVersionMigration", name, history.Stored{Migration: &now})
}

// setCondition sets a condition of a migration, and tells of it.
func (v *builder) setCondition(name string, is bool, checkpoint, kind, message string) {
	m := v.contents[name]
	if checkpoint != "" {
		m.Checkpoint = checkpoint
	}
	v.set(m, kind, is, message)
	v.storeMigration(name)
	v.Advance(10)
}

func (v *builder) set(m *history.Migration, kind string, is bool, message string) {
	c := history.Condition{Type: kind, Status: "False", Transition: story.Epoch.Add(time.Duration(v.Now)).Truncate(time.Second), Reason: "Migration" + kind, Message: message}
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

// failWrites has writes of a member's controller come to errors, or ends that. What it
// tells takes no time: the rest of the story is the same without it.
func (v *builder) failWrites(m *story.Member, phase history.Phase) {
	now := v.Now
	fault := func(code int, phase history.Phase, proof string) {
		action := history.FaultHTTPReplace
		if code == 0 {
			action = history.FaultHTTPAbort
		}
		v.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: &history.Fault{
			ID: fmt.Sprintf("write-%d", code), Type: history.FaultHTTP, Action: action, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
		}})
		v.Now = now
	}
	for i, code := range passingErrors {
		fault(code, phase, "")
		if phase == history.PhaseHeal {
			continue
		}
		fault(code, history.PhaseWitness, "the link hit a request")
		for _, hit := range []int{6 + i%4, 7 + i%4} {
			v.Emit(history.Event{Kind: history.KindInterceptedRequest, Member: m.Name, InterceptedRequest: &history.InterceptedRequest{
				Fault: fmt.Sprintf("write-%d", code), Component: history.ComponentControllerManager, Method: "PUT", Code: code, Sent: code != 0,
				Path: "/apis/" + story.BallastGroup + "/v1/namespaces/default/ballasts/" + strings.TrimPrefix(ballast(hit).name, "default/"),
			}})
			v.Now = now
		}
	}
}

// begin has a migration run.
func (v *builder) begin(name string) {
	v.Advance(300)
	v.setCondition(name, true, strconv.FormatInt(v.Revision, 10), history.MigrationRunning, "0 objects migrated")
}

// end gives a migration its outcome.
func (v *builder) end(name, outcome string) {
	v.Advance(200)
	v.set(v.contents[name], history.MigrationRunning, false, "The migration has ended")
	v.setCondition(name, true, "", outcome, "ended")
}

// deleteMigration has a user delete a migration.
func (v *builder) deleteMigration(m *story.Member, name string) {
	v.Delete(migrationPrefix+name, name)
	v.requestMigration(m, "delete", name, "", 200, nil)
}

// replace starts a member at another release.
func (v *builder) replace(m *story.Member, release string) {
	v.serverExits(m)
	v.Start(m, release)
	v.ReportResource(m, ballastsResource)
	v.AnswerReady(m, 200, true)
}

// restart restarts a member's API server as it was.
func (v *builder) restart(m *story.Member) {
	v.serverExits(m)
	v.Start(m, m.Release)
	v.AnswerReady(m, 200, true)
}

func (v *builder) serverExits(m *story.Member) {
	v.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.Instance, Release: m.Release, Exit: "signal: killed", Expected: true,
	}})
	v.Advance(300)
}

// managerProcess is a change in the life of a member's controller manager.
func (v *builder) managerProcess(m *story.Member, change string) {
	if change == history.ProcessStarted {
		v.managers[m.Name]++
	}
	p := history.Process{Component: history.ComponentControllerManager, Change: change, Instance: v.managers[m.Name], PID: 500, Release: m.Release}
	if change == history.ProcessExited {
		p.PID, p.Exit, p.Expected = 0, "signal: killed", true
	}
	v.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &p})
}

// holdLeaderLease has a member's controller manager hold the Lease.
func (v *builder) holdLeaderLease(m *story.Member) {
	v.Store(leaderKey, "coordination.k8s.io/v1", "Lease", "kube-system/kube-controller-manager", history.Stored{
		Lease: &history.Lease{Holder: m.Name + "_7", Duration: 15, Renewed: story.Epoch.Add(time.Duration(v.Now))},
	})
}

// define stores the definition of crates.
func (v *builder) define(storage string, generation int64, stored ...string) {
	v.storeDefinition(history.CustomResource{Group: cratesGroup, Resource: "crates", Storage: storage, Stored: stored, Generation: generation})
}

// markMigrating has it say whether crates are being migrated, from v1beta1 to v1.
func (v *builder) markMigrating(status string) {
	v.storeDefinition(history.CustomResource{Group: cratesGroup, Resource: "crates", Storage: "v1", Stored: []string{"v1beta1", "v1"}, Generation: 2, Migrating: status})
}

func (v *builder) storeDefinition(definition history.CustomResource) {
	v.Advance(50)
	v.Store("/registry/apiextensions.k8s.io/customresourcedefinitions/crates."+cratesGroup, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "crates."+cratesGroup, history.Stored{
		CustomResource: &definition,
	})
}
