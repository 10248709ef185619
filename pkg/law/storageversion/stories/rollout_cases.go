package stories

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

var rolloutCases = []story.Case{
	{
		Requirement: "SV-01", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindHold), story.StorageVersionWrites, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// cp2 hosts a resource that has no StorageVersion.
			d := e.Events[e.Find(1, story.AllOf(story.OfKind(history.KindHostedResources), story.OfMember("cp2")))].HostedResources
			d.Resources = append(d.Resources, history.HostedResource{Resource: "endpoints", Kind: "Endpoints", Served: []string{"v1"}, Persisted: true})
		},
		Weak: func(e *story.Edit) {
			e.Each(story.AllOf(story.OfKind(history.KindReady), story.OfMember("cp3")), func(ev *history.Event) { ev.Ready.Revision = 0 })
		},
	},
	{
		Requirement: "SV-02", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindHostedResources, history.KindHold), story.StorageVersionWrites),
		Fail: func(e *story.Edit) {
			// Secrets are published a second time, without the word for their group.
			e.ReviseBefore(e.FindVersion(1, "core.secrets", entries(3)), func(s *history.Stored) {
				s.Key, s.Name, s.Created = "/registry/storageversions/secrets", "secrets", s.Revision
			})
		},
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindHold)) },
	},
	{
		Requirement: "SV-03", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindHold), story.StorageVersionWrites, story.IdentitiesCreated, story.DiscoveryReads, flawed(""),
			story.AllOf(flawed(history.InvalidDuplicate), lasting)),
		Fail: func(e *story.Edit) {
			sv := e.Events[e.FindVersion(1, "core.namespaces", entries(1))].Stored.StorageVersion
			sv.Entries = append(sv.Entries, sv.Entries[0])
		},
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindHold)) },
	},
	{
		Requirement: "SV-04", Reads: story.AnyOf(story.StorageVersionWrites, flawed(""), flawed(history.InvalidUndecodable)),
		Fail: func(e *story.Edit) {
			r := e.Events[e.Find(1, flawed(history.InvalidUndecodable))].Request
			r.Code, r.Reason = 200, ""
		},
		Weak: func(e *story.Edit) {
			// Who refuses the flawless status too has not looked at the flaw.
			e.Each(flawed(""), func(ev *history.Event) { ev.Request.Code, ev.Request.Reason = 422, "Invalid" })
		},
	},
	{
		Requirement: "SV-05", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindHold), story.StorageVersionWrites, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// cp1 says that it goes on serving what 1.3 only decodes.
			e.Each(newerFirst, func(ev *history.Event) { ev.Stored.StorageVersion.Entries[0].Served = story.Decodable })
		},
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindHostedResources)) },
	},
	{
		Requirement: "SV-26", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindHold), story.StorageVersionWrites, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			d := e.Events[e.Find(1, story.AllOf(story.OfKind(history.KindHostedResources), story.OfMember("cp2")))].HostedResources
			d.Resources[0].Hashes = []string{history.StorageVersionHash("v2", d.Resources[0].Kind)}
		},
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindHostedResources)) },
	},
	{
		Requirement: "SV-27", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindHostedResources, history.KindHold), story.StorageVersionWrites),
		Fail: func(e *story.Edit) {
			// The API servers report what an aggregated server stores.
			e.ReviseBefore(e.FindVersion(1, "core.secrets", entries(3)), func(s *history.Stored) {
				s.Name = "backend.evenkeel.dev.echoes"
				s.Key, s.Created = "/registry/storageversions/"+s.Name, s.Revision
			})
		},
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindHold)) },
	},
	{
		Requirement: "SV-06", Reads: story.AnyOf(story.StorageVersionWrites, story.IdentitiesCreated, flawed(""), flawed(history.InvalidAgreement)),
		Fail: func(e *story.Edit) {
			e.Events[e.FindVersion(1, "core.secrets", entries(1))].Stored.StorageVersion.Conditions[0].Status = "True"
		},
		Weak: (*story.Edit).StopAfterHold,
	},
	{
		Requirement: "SV-07", Reads: story.StorageVersionWrites,
		Fail: func(e *story.Edit) {
			c := &e.Events[e.FindVersion(1, "core.secrets", entries(2))].Stored.StorageVersion.Conditions[0]
			c.Transition = c.Transition.Add(time.Second)
		},
		Weak: func(e *story.Edit) { e.StopAt(e.FindVersion(1, "core.configmaps", entries(3))) },
	},
	{
		Requirement: "SV-09", Reads: story.AnyOf(story.OfKind(history.KindProcess), story.StorageVersionWrites, story.IdentitiesCreated),
		Fail: func(e *story.Edit) {
			// cp3 writes what it read before cp2 did, and cp2 repairs it.
			before := e.Events[e.FindVersion(1, "core.secrets", entries(2))].Stored.StorageVersion
			e.ReviseBefore(e.FindVersion(1, "core.secrets", entries(3)), func(s *history.Stored) {
				lost := s.StorageVersion
				lost.Entries = append(lost.Entries[:1], lost.Entries[2])
				lost.Common, lost.Conditions = nil, story.CloneStorageVersion(before).Conditions
			})
		},
		Weak: func(e *story.Edit) {
			// Without the starts of servers, no two are known to have started together.
			e.Drop(story.OfKind(history.KindProcess))
		},
	},
	{
		Requirement: "SV-11", Reads: story.AnyOf(story.StorageVersionWrites, story.IdentitiesCreated),
		Fail: func(e *story.Edit) {
			// cp3 joins right after its first entry.
			join := e.Find(3, story.IdentitiesCreated)
			late := e.Events[join]
			e.Events = append(e.Events[:join], e.Events[join+1:]...)
			first := e.FindVersion(1, "core.configmaps", entries(3))
			late.Stored.Revision = e.Events[first].Stored.Revision + 1
			late.Stored.Created = late.Stored.Revision
			e.InsertAfter(first, late)
		},
		Weak: func(e *story.Edit) { e.StopAt(e.FindVersion(1, "core.configmaps", entries(2))) },
	},
	{
		Requirement: "SV-12", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindHold), story.BallastVersionWrites, story.BallastRequests, story.BallastWrites, story.IdentitiesCreated),
		Fail: func(e *story.Edit) {
			// One write comes through while cp1 boots at 1.3, before it has
			// announced that.
			i := e.FindDuring("upgrade", func(ev *history.Event) bool { return story.BallastRequests(ev) && ev.Request.Barrier })
			r := e.Events[i].Request
			j := e.FindDuring("upgrade", story.BallastVersionWrites)
			r.Code, r.Barrier, r.Reason, r.Message, r.ResourceVersion = 200, false, "", "", e.Events[j].Stored.Revision-1
			e.InsertAfter(i, history.Event{Kind: history.KindStored, Stored: &history.Stored{
				Type: history.StoredPut, Key: "/registry/" + story.BallastGroup + "/ballasts/" + r.Name, Revision: r.ResourceVersion,
				APIVersion: story.Releases["1.3"].Encoding, ObjectKind: "Ballast", Name: r.Name, Writer: "cp1", Write: r.Write,
			}})
		},
		Also: map[requirement.ID]string{
			"SV-15": "what was written too early is stored in a version that was not announced",
			"SV-21": "and while the old version is still called agreed",
		},
		Weak: func(e *story.Edit) { e.Drop(refusedByBarrier) },
	},
	{
		Requirement: "SV-13", Reads: story.AnyOf(story.OfKind(history.KindProcess), story.StorageVersionWrites, story.RequestsOfClass(passingClasses...), refusedByBarrier),
		Fail: func(e *story.Edit) {
			r := e.Events[e.Find(1, story.AllOf(story.RequestsOfClass(history.ClassRead), story.OfMember("cp1")))].Request
			r.Code, r.Barrier, r.Reason, r.ResourceVersion = 503, true, "ServiceUnavailable", 0
			r.Message = "wait for storage version registration to complete for resource: configmaps"
		},
		Weak: func(e *story.Edit) { e.Drop(story.RequestsOfClass(history.ClassCustom)) },
	},
	{
		Requirement: "SV-14", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindHold), story.BallastVersionWrites, story.BallastRequests, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			taken := e.Find(1, story.AllOf(story.BallastRequests, story.OfMember("cp2"), func(ev *history.Event) bool { return ev.Request.Code == 200 }))
			refusal := e.Find(1, story.AllOf(story.BallastRequests, story.OfMember("cp2"), refusedByBarrier))
			ev := e.Events[refusal]
			r := *ev.Request
			ev.From, ev.Request = e.Events[taken].At, &r
			e.InsertAfter(taken, ev)
		},
		Weak: func(e *story.Edit) { e.Drop(refusedByBarrier) },
	},
	{
		Requirement: "SV-15", Reads: story.AnyOf(story.OfKind(history.KindProcess), story.StorageVersionWrites, story.UserWrites, story.IdentitiesCreated, story.DiscoveryReads, story.AllOf(story.BallastRequests, accepted)),
		Fail: func(e *story.Edit) {
			e.Events[e.FindDuring("upgrade", story.BallastWrites)].Stored.APIVersion = story.Releases["1.2"].Encoding
		},
		Weak: (*story.Edit).StopAfterHold,
	},
	{
		Requirement: "SV-21", Reads: story.AnyOf(story.OfKind(history.KindProcess), story.BallastVersionWrites, story.BallastWrites, story.IdentitiesCreated, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// cp1 takes its old entry out before it puts the new one in.
			e.ReviseBefore(e.FindDuring("upgrade", story.BallastVersionWrites), func(s *history.Stored) {
				s.StorageVersion.Entries = s.StorageVersion.Entries[1:]
			})
		},
		Weak: (*story.Edit).StopAfterHold,
	},
	{
		Requirement: "SV-22", Reads: story.AnyOf(story.OfKind(history.KindStep, history.KindProcess, history.KindHold), story.BallastWrites, story.BallastVersionViews, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// Clients of cp2 go on seeing what was agreed before.
			w := e.Events[e.FindDuring("upgrade", story.AllOf(story.BallastVersionViews, story.OfMember("cp2")))].Watch
			agreed := story.Releases["1.2"].Encoding
			w.StorageVersion.Common = &agreed
		},
		Weak: func(e *story.Edit) { e.Drop(story.RollbackSteps) },
	},
	{
		Requirement: "SV-23", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindHold), story.StorageVersionWrites, story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			e.ReviseBefore(e.FindVersion(1, "core.secrets", entries(3)), func(*history.Stored) {})
		},
		Weak: (*story.Edit).StopAfterHold,
	},
}

func flawed(flaw string) story.Match {
	return story.AllOf(story.RequestsOfClass(history.ClassInvalid), func(ev *history.Event) bool { return ev.Request.Invalid == flaw })
}

func lasting(ev *history.Event) bool { return ev.Request != nil && ev.Request.WithoutDryRun }

// passingClasses are the classes of requests that the barrier lets through.
var passingClasses = []string{history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated}

func refusedByBarrier(ev *history.Event) bool { return ev.Request != nil && ev.Request.Barrier }

func accepted(ev *history.Event) bool { return ev.Request.Code == 200 }

// newerFirst fits the revisions of the ballasts' StorageVersion in which cp1 has the
// newer release.
func newerFirst(ev *history.Event) bool {
	return story.BallastVersionWrites(ev) && len(ev.Stored.StorageVersion.Entries) == 3 && ev.Stored.StorageVersion.Entries[0].Encoding == story.Releases["1.3"].Encoding
}

// entries fits the revisions of a StorageVersion with that many entries.
func entries(n int) func(*history.StorageVersion) bool {
	return func(sv *history.StorageVersion) bool { return len(sv.Entries) == n }
}
