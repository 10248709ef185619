package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// watchedBuilder is a voyage whose migrations are watched through every member.
type watchedBuilder struct {
	*builder
	// last is the revision of each migration.
	last map[string]int64
}

// leftoverStory is a run in which migrations that have succeeded, that have failed
// and that wait are there while all members are upgraded and one is rolled back.
func leftoverStory() []history.Event {
	c := &watchedBuilder{
		builder: &builder{ControlPlane: story.NewControlPlane(), contents: map[string]*history.Migration{}, metadata: map[string]string{}, writers: map[string]*story.Member{}, managers: map[string]int{}, deleting: map[string]bool{}},
		last:    map[string]int64{},
	}
	cp1, cp2, cp3 := c.Members[0], c.Members[1], c.Members[2]
	for _, m := range c.Members {
		c.Start(m, m.Release)
		c.RenewIdentity(m)
		c.ReportResource(m, ballastsResource)
		c.AnswerReady(m, 200, true)
		c.openMigrationWatch(m)
	}
	c.createLeftover("done", history.MigrationSucceeded)
	c.createLeftover("hopeless", history.MigrationFailed)
	c.createLeftover("waiting", "")
	c.Advance(11_000)
	c.holdAndList("before")
	for i, m := range []*story.Member{cp1, cp2, cp3} {
		c.replaceStep(2+2*i, "upgrade", m, "1.3")
		c.setCondition("waiting", false, "", history.MigrationRunning, "AwaitingAgreement of "+m.Name)
		c.showStored("waiting")
		c.Advance(11_000)
		c.holdAndList("up " + m.Name)
	}
	c.replaceStep(8, "rollback", cp3, "1.2")
	c.setCondition("waiting", false, "", history.MigrationRunning, "AwaitingAgreement again")
	c.showStored("waiting")
	c.Advance(11_000)
	c.holdAndList("back")
	c.Advance(20)
	c.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return c.Events
}

// createLeftover makes a migration, with its outcome if it has one.
func (c *watchedBuilder) createLeftover(name, outcome string) {
	c.contents[name] = &history.Migration{Group: story.BallastGroup, Resource: "ballasts"}
	if outcome == "" {
		c.setCondition(name, false, "", history.MigrationRunning, "AwaitingAgreement")
	} else {
		c.setCondition(name, true, "", outcome, "ended")
	}
	c.showStored(name)
}

// showStored shows the migration that was stored last to the open watches.
func (c *watchedBuilder) showStored(name string) {
	c.last[name] = c.Revision
	for _, m := range c.Members {
		if m.WatchesMigrations {
			c.show(m, "MODIFIED", name)
		}
	}
}

func (c *watchedBuilder) show(m *story.Member, what, name string) {
	c.Emit(history.Event{Kind: history.KindWatch, Member: m.Name, Watch: &history.Watch{Resource: "storageversionmigrations", Type: what, Name: name, ResourceVersion: c.last[name]}})
}

// openMigrationWatch opens the recorder's watch of migrations through a member.
func (c *watchedBuilder) openMigrationWatch(m *story.Member) {
	m.WatchesMigrations = true
	c.Emit(history.Event{Kind: history.KindWatch, Member: m.Name, Watch: &history.Watch{Resource: "storageversionmigrations", Type: history.WatchOpened, ResourceVersion: c.Revision}})
	for _, name := range []string{"done", "hopeless", "waiting"} {
		if c.last[name] > 0 {
			c.show(m, "ADDED", name)
		}
	}
}

// replaceStep replaces a member by another release.
func (c *watchedBuilder) replaceStep(index int, action string, m *story.Member, release string) {
	c.Step(index, action, history.PhaseBegin, m, release)
	m.WatchesMigrations = false
	c.Emit(history.Event{Kind: history.KindWatch, Member: m.Name, Watch: &history.Watch{Resource: "storageversionmigrations", Type: history.WatchBroken, Message: "the stream ended: EOF"}})
	c.replace(m, release)
	c.openMigrationWatch(m)
	c.Step(index, action, history.PhaseEnd, m, release)
}

// holdAndList is a hold at whose end migrations are listed through every member.
func (c *watchedBuilder) holdAndList(name string) {
	running := map[string]string{}
	for _, m := range c.Members {
		running[m.Name] = m.Release
	}
	c.Emit(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: name, Phase: history.PhaseBegin, Releases: running, Revision: c.Revision}})
	c.Advance(1000)
	for _, m := range c.Members {
		c.Request(m, history.Request{Class: history.ClassRead, Verb: "list", Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations", Code: 200, ResourceVersion: c.Revision})
	}
	c.Emit(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: name, Phase: history.PhaseEnd, Releases: running, Revision: c.Revision}})
}

var leftoverCases = []story.Case{
	{
		Requirement: "SVM-25", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindHold), story.RollbackSteps, migrations, migrationViews, story.DiscoveryReads, story.RequestsOfClass(history.ClassRead)),
		Fail: func(e *story.Edit) {
			// The newer release leaves out what the older one has stored.
			shown := e.FindDuring("upgrade", story.AllOf(migrationViews, story.OfMember("cp1"), func(ev *history.Event) bool { return ev.Watch.Name == "done" }))
			e.Events = slices.Delete(e.Events, shown, shown+1)
		},
		Weak: func(e *story.Edit) { e.Drop(story.RollbackSteps) },
	},
}

// migrationViews are what members show of migrations.
func migrationViews(ev *history.Event) bool {
	return ev.Watch != nil && ev.Watch.Resource == "storageversionmigrations"
}
