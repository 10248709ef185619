package stories

import (
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	// automaticBallasts and automaticCrates are the migrations that the controller creates by itself.
	automaticBallasts = "reference.evenkeel.dev.ballasts.1"
	automaticCrates   = "stores.evenkeel.dev.crates.1"
	// automaticTackle is the one of a resource that an aggregated server stores.
	automaticTackle = tackleGroup + ".tackles.1"
	// stuckGroup has a resource that cannot be read for a while.
	stuckGroup = "buoys.evenkeel.dev"
)

// automaticStory is a run in which migrations start without a request, one after the
// other, beside one of a resource that cannot be read for a while.
func automaticStory() []history.Event {
	v := newBuilder()
	cp1 := v.Members[0]
	for _, m := range v.Members {
		v.ReportResource(m, story.Hosted[0])
	}
	for i := range 12 {
		v.put(v.Members[i%3], ballast(i))
	}
	v.hostTackle(4)
	v.defineStuck("v1beta1", 1, "v1beta1")
	v.Store(stuckKey(0), stuckGroup+"/v1beta1", "Buoy", "default/buoy0", history.Stored{Metadata: "buoy", Content: "buoy"})
	v.create(cp1, "stuck", stuckGroup, "buoys")
	v.defineStuck("v1", 2, "v1beta1", "v1")
	v.setCondition("stuck", false, "", history.MigrationRunning, "There is no progress, trying again")
	v.Advance(20_000)
	for _, m := range v.Members {
		v.replace(m, "1.3")
	}
	v.Advance(500)
	v.createByItself(automaticBallasts, story.BallastGroup, "ballasts")
	v.begin(automaticBallasts)
	for i := range 6 {
		v.rewrite(ballast(i), story.Releases["1.3"].Encoding)
	}
	v.define("v1beta1", 1, "v1beta1")
	for i := range 4 {
		v.put(v.Members[i%3], crate(i))
	}
	v.define("v1", 2, "v1beta1", "v1")
	v.Advance(300)
	v.createByItself(automaticCrates, cratesGroup, "crates")
	v.setCondition(automaticCrates, false, "", history.MigrationRunning, "Another resource is being migrated.")
	for i := 6; i < 12; i++ {
		v.rewrite(ballast(i), story.Releases["1.3"].Encoding)
	}
	v.end(automaticBallasts, history.MigrationSucceeded)
	v.begin(automaticCrates)
	for i := range 4 {
		v.rewrite(crate(i), cratesGroup+"/v1")
	}
	v.define("v1", 2, "v1")
	v.end(automaticCrates, history.MigrationSucceeded)
	v.announceTackle("v1")
	v.createByItself(automaticTackle, tackleGroup, tackle.Resource)
	v.begin(automaticTackle)
	for i := range 4 {
		v.rewrite(block(i), tackleGroup+"/v1")
	}
	v.end(automaticTackle, history.MigrationSucceeded)
	v.begin("stuck")
	v.Advance(200)
	v.Store(stuckKey(0), stuckGroup+"/v1", "Buoy", "default/buoy0", history.Stored{Metadata: "buoy", Content: "buoy"})
	v.defineStuck("v1", 2, "v1")
	v.end("stuck", history.MigrationSucceeded)
	v.create(cp1, "short", story.Hosted[0].Group, story.Hosted[0].Resource)
	v.end("short", history.MigrationSucceeded)
	v.Advance(3000)
	v.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.Events
}

// automaticHeader says that migrations are automatic.
func automaticHeader() history.Header {
	h := aggregatedHeader()
	h.Topology = &history.Topology{Name: "story", Settings: map[string]string{"automaticMigration": "true"}}
	return h
}

func stuckKey(i int) string { return fmt.Sprintf("/registry/%s/buoys/default/buoy%d", stuckGroup, i) }

func (v *builder) defineStuck(storage string, generation int64, stored ...string) {
	v.Advance(50)
	v.Store("/registry/apiextensions.k8s.io/customresourcedefinitions/buoys."+stuckGroup, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "buoys."+stuckGroup, history.Stored{
		CustomResource: &history.CustomResource{Group: stuckGroup, Resource: "buoys", Storage: storage, Stored: stored, Generation: generation},
	})
}

// createByItself has a controller create a migration.
func (v *builder) createByItself(name, group, resource string) {
	v.contents[name] = &history.Migration{Group: group, Resource: resource}
	v.storeMigration(name)
}

// shift has everything from an event on come later.
func shift(e *story.Edit, from int, milliseconds int64) {
	for i := from; i < len(e.Events); i++ {
		e.Events[i].At += milliseconds * story.Millisecond
	}
}

// automaticCases are how that story is changed.
var automaticCases = []story.Case{
	{
		Requirement: "SVM-28", Reads: story.AnyOf(migrations, story.BallastVersionWrites, definitionsStored),
		Fail: func(e *story.Edit) {
			// The second one begins while the first one runs.
			begins := *e.Events[e.Find(1, story.AllOf(migrationNamed(automaticCrates), running))].Stored
			i := e.Find(1, story.AllOf(migrationNamed(automaticCrates), waiting))
			begins.Revision = e.Events[i].Stored.Revision + 1
			e.InsertAfter(i, history.Event{Kind: history.KindStored, Stored: &begins})
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AnyOf(migrationNamed(automaticCrates), migrationNamed("stuck")))
		},
	},
	{
		Requirement: "SVM-29", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, definitionsStored, leaderLeaseWrites, story.Lifecycle),
		Fail: func(e *story.Edit) {
			shift(e, e.Find(1, story.AllOf(migrationNamed(automaticBallasts), running)), 150_000)
		},
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("stuck")) },
	},
	{
		Requirement: "SVM-30", Reads: story.AnyOf(migrations, story.StorageVersionWrites, ballastObjects, crateWrites, tackleObjects, tackleListed, definitionsStored, leaderLeaseWrites, story.Lifecycle),
		Fail: func(e *story.Edit) { shift(e, e.Find(1, migrationNamed(automaticCrates)), 70_000) },
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, migrationNamed(automaticCrates))) },
	},
	{
		Requirement: "SVM-31", Reads: story.AnyOf(migrations, story.StorageVersionWrites),
		Fail: func(e *story.Edit) {
			// A worker runs before the outcome.
			i := e.Find(1, outcome("short"))
			ended := e.Events[i].Stored
			ended.Migration.Checkpoint = strconv.FormatInt(ended.Revision-1, 10)
			runs, now := *ended, *ended.Migration
			now.Conditions = []history.Condition{now.Conditions[0]}
			now.Conditions[0].Status = "True"
			runs.Revision, runs.Migration = runs.Revision-1, &now
			e.InsertAfter(i-1, history.Event{Kind: history.KindStored, Stored: &runs})
		},
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("short")) },
	},
}
