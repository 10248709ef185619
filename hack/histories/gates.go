package main

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// gatesStory is a run in which one member is upgraded without the StorageVersion
// API and stores objects, gets the API again, and is rolled back.
func gatesStory() []history.Event {
	p := newPlane()
	p.boot()
	m := p.members[2]
	p.hold("before")
	p.silence(2, m, "1.3")
	for range 6 {
		p.pass(100)
		p.write(m, "ballasts")
	}
	p.hold("without")
	p.replace(4, "restart", m, "1.3")
	p.hold("with again")
	p.replace(6, "rollback", m, "1.2")
	p.hold("as before")
	p.pass(20)
	p.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return p.events
}

// silence starts a member at another release and without the StorageVersion API: it
// takes back what it has said, and nothing is agreed.
func (p *plane) silence(index int, m *member, release string) {
	p.pass(500)
	p.step(index, "upgrade", history.PhaseBegin, m, release)
	p.exit(m, "exit status 0", true)
	m.off = []string{history.FeatureStorageVersions}
	p.start(m, release)
	m.off = nil
	p.ready(m, 500, false)
	p.renew(m)
	p.reform(func(sv *history.StorageVersion) {
		sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == m.id() })
	})
	p.serve(m)
	p.step(index, "upgrade", history.PhaseEnd, m, release)
}

var gatesCases = []testCase{
	{
		id: "SV-25", reads: either(kinds(history.KindProcess, history.KindHold), ballastVersions, ballasts, looks),
		fails: "called reference.evenkeel.dev/v1beta1 agreed when cp3 stored",
		fail: func(e *edit) {
			// The others agree without the member that publishes nothing.
			s := e.events[e.version(1, ballastsName, func(sv *history.StorageVersion) bool {
				return len(sv.Entries) == 2 && sv.Entries[1].ServerID == "apiserver-cp2" && sv.Conditions[0].Status == "False" && e.silenced(sv)
			})].Stored
			agreed := releases["1.2"].encoding
			s.StorageVersion.Common = &agreed
			s.StorageVersion.Conditions = []history.Condition{condition(&agreed, s.StorageVersion.Conditions[0].Transition)}
		},
		why: "saw 0 agreements formed with all servers that had it again, and needs at least 1",
		weak: func(e *edit) {
			e.stopAt(e.find(1, rollbacks))
		},
	},
}

// silenced is whether a state of the ballasts' StorageVersion is from after a member
// was started without the StorageVersion API.
func (e *edit) silenced(sv *history.StorageVersion) bool {
	from := e.find(1, func(ev *history.Event) bool { return ev.Process != nil && len(ev.Process.Off) > 0 })
	return slices.ContainsFunc(e.events[from:], func(ev history.Event) bool { return ev.Stored != nil && ev.Stored.StorageVersion == sv })
}
