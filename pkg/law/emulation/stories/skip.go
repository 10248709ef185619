package stories

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// Releases of the story of an upgrade that skips one: the first one cannot read what the newer
// one stores.
const (
	first         = "1.1"
	emulatesFirst = "1.3 emulating 1.1"
)

// versions are how an API server of a release treats ballasts; the first one is stored.
var versions = map[string][]string{
	first:         {story.BallastGroup + "/v1alpha1", story.BallastGroup + "/v1beta1"},
	emulatesFirst: {story.BallastGroup + "/v1alpha1", story.BallastGroup + "/v1beta1", story.BallastGroup + "/v1"},
	newer:         {story.BallastGroup + "/v1", story.BallastGroup + "/v1beta1", story.BallastGroup + "/v1alpha1"},
}

func skipStory() []history.Event { return Skip(nil) }

// Skip builds a run in which the binaries of three members are replaced by those of two
// releases later and emulate the first one, and raise what they emulate. A migration is asked
// for while all emulate, and one while only one has raised what it emulates. The map names what
// happens besides at the points leading, asked and waiting.
func Skip(otherwise map[string]func(*Builder)) []history.Event {
	b := &Builder{ControlPlane: story.NewControlPlane(), at: otherwise}
	for _, m := range b.Members {
		b.play(m, first)
	}
	for _, m := range b.Members {
		b.replaceBy("upgrade", m, emulatesFirst, b.play)
	}
	b.lead(b.Members[2])
	b.point("leading")
	b.Migrate("early", "", "")
	b.Advance(1000)
	b.point("asked")
	b.Migrate("early", history.MigrationRunning, "")
	b.Advance(1000)
	b.Migrate("early", "", history.MigrationSucceeded)
	b.replaceBy("emulate", b.Members[0], newer, b.play)
	b.Migrate("late", "", "")
	b.Advance(15_000)
	b.point("waiting")
	b.replaceBy("emulate", b.Members[1], newer, b.play)
	b.replaceBy("emulate", b.Members[2], newer, b.play)
	b.Advance(2000)
	b.Migrate("late", history.MigrationRunning, "")
	b.Advance(1000)
	b.Migrate("late", "", history.MigrationSucceeded)
	b.Advance(1000)
	b.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return b.Events
}

// play starts a member's API server, which announces in which version it stores ballasts, and
// becomes ready.
func (b *Builder) play(m *story.Member, release string) {
	b.Start(m, release)
	b.RenewIdentity(m)
	b.Advance(1000)
	of := versions[release]
	b.ReportEntry(m, story.BallastVersion, history.Entry{ServerID: m.ServerID(), Encoding: of[0], Decodable: of, Served: of})
	b.Advance(30)
	from := b.Now
	b.Advance(3)
	b.Emit(history.Event{Kind: history.KindReady, Member: m.Name, From: from, Ready: &history.Ready{Code: 200, Revision: b.Revision}})
}

// lead has the controller manager of a member lead.
func (b *Builder) lead(m *story.Member) {
	b.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: history.ProcessStarted, Instance: 1, Release: m.Release,
	}})
	b.Store("/registry/leases/kube-system/kube-controller-manager", "coordination.k8s.io/v1", "Lease", "kube-system/kube-controller-manager", history.Stored{
		Lease: &history.Lease{Holder: fmt.Sprintf("%s_1", m.Name), Duration: 3600, Renewed: story.Epoch},
	})
}

// Migrate stores a migration of ballasts that runs, or has ended.
func (b *Builder) Migrate(name, running, outcome string) {
	m := &history.Migration{Group: story.BallastGroup, Resource: "ballasts"}
	for _, kind := range []string{running, outcome} {
		if kind != "" {
			m.Conditions = append(m.Conditions, history.Condition{Type: kind, Status: "True", Transition: story.Epoch})
		}
	}
	b.Store("/registry/storageversionmigrations/"+name, "storagemigration.k8s.io/v1beta1", "StorageVersionMigration", name, history.Stored{Migration: m})
}

var migrations = func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Migration != nil }

var skipCases = []story.Case{
	{
		Requirement: "EV-07", Reads: story.AnyOf(lifecycle, story.BallastVersionWrites, migrations, story.LeaseWrites),
		Fail: func(e *story.Edit) {
			e.Events = Skip(map[string]func(*Builder){"waiting": func(b *Builder) { b.Migrate("late", history.MigrationRunning, "") }})
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(migrations, func(ev *history.Event) bool { return ev.Stored.Name == "late" }))
		},
	},
}
