package stories

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// gatesStory is a run in which one member is upgraded without the StorageVersion
// API and stores objects, gets the API again, and is rolled back.
func gatesStory() []history.Event {
	p := newBuilder()
	p.boot()
	m := p.Members[2]
	p.hold("before")
	p.replaceWithoutAPI(2, m, "1.3")
	for range 6 {
		p.Advance(100)
		p.Write(m, "ballasts")
	}
	p.hold("without")
	p.replace(4, "restart", m, "1.3")
	p.hold("with again")
	p.replace(6, "rollback", m, "1.2")
	p.hold("as before")
	p.Advance(20)
	p.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return p.Events
}

// replaceWithoutAPI starts a member at another release and without the StorageVersion API: it
// takes back what it has said, and nothing is agreed.
func (p *builder) replaceWithoutAPI(index int, m *story.Member, release string) {
	p.Advance(500)
	p.Step(index, "upgrade", history.PhaseBegin, m, release)
	p.Exit(m, "exit status 0", true)
	m.DisabledFeatures = []string{history.FeatureStorageVersions}
	p.Start(m, release)
	m.DisabledFeatures = nil
	p.AnswerReady(m, 500, false)
	p.RenewIdentity(m)
	p.updateAll(func(sv *history.StorageVersion) {
		sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == m.ServerID() })
	})
	p.serve(m)
	p.Step(index, "upgrade", history.PhaseEnd, m, release)
}

var gatesCases = []story.Case{
	{
		Requirement: "SV-25", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindHold), story.BallastVersionWrites, story.BallastWrites, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// The others agree without the member that publishes nothing.
			s := e.Events[e.FindVersion(1, story.BallastVersion, func(sv *history.StorageVersion) bool {
				return len(sv.Entries) == 2 && sv.Entries[1].ServerID == "apiserver-cp2" && sv.Conditions[0].Status == "False" && afterAPIDisabled(e, sv)
			})].Stored
			agreed := story.Releases["1.2"].Encoding
			s.StorageVersion.Common = &agreed
			s.StorageVersion.Conditions = []history.Condition{story.AgreementCondition(&agreed, s.StorageVersion.Conditions[0].Transition)}
		},
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, story.RollbackSteps))
		},
	},
}

// afterAPIDisabled is whether a state of the ballasts' StorageVersion is from after a member
// was started without the StorageVersion API.
func afterAPIDisabled(e *story.Edit, sv *history.StorageVersion) bool {
	from := e.Find(1, func(ev *history.Event) bool { return ev.Process != nil && len(ev.Process.DisabledFeatures) > 0 })
	return slices.ContainsFunc(e.Events[from:], func(ev history.Event) bool { return ev.Stored != nil && ev.Stored.StorageVersion == sv })
}
