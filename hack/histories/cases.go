package main

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// testCase is how the story is changed for one requirement.
type testCase struct {
	id requirement.ID
	// tells is the story that is changed; nil is that of storage versions.
	tells func() []history.Event
	// begins is the header of the story; nil is that of storage versions.
	begins func() history.Header
	// reads is what the fixtures keep of the story.
	reads keep
	// fail makes the smallest change that breaks the promise, so that a
	// violation says fails.
	fail  func(*edit)
	fails string
	// also lists other requirements that this change necessarily breaks in the
	// whole story, and why.
	also map[requirement.ID]string
	// weak takes the evidence away, so that a reason says why.
	weak func(*edit)
	why  string
}

// files are the fixtures of the case.
func (c *testCase) files() map[string][]history.Event {
	return map[string][]history.Event{
		"pass.jsonl": c.make(nil).trim(c.reads),
		"fail.jsonl": c.make(c.fail).trim(c.reads),
		"weak.jsonl": c.make(c.weak).trim(c.reads),
	}
}

// make gives the whole story, changed.
func (c *testCase) make(change func(*edit)) *edit {
	tells := c.tells
	if tells == nil {
		tells = story
	}
	e := &edit{tells()}
	if change != nil {
		change(e)
	}
	return e
}

// header of the case's histories.
func (c *testCase) header() history.Header {
	if c.begins == nil {
		return header()
	}
	return c.begins()
}

var cases = slices.Concat(
	storageVersionCases,
	told(registrationStory, registrationHeader, registrationCases),
	told(gatesStory, header, gatesCases),
	told(collectionStory, header, collectionCases),
	told(discoveryStory, header, discoveryCases),
	told(peersStory, header, peersCases),
	told(electionStory, header, electionCases),
	told(strandedStory, header, strandedCases),
	told(seizedStory, header, seizedCases),
	told(rowersStory, header, rowersCases),
	told(steadyStory, header, steadyCases),
	told(strangersStory, header, strangersCases),
	told(mixedStory, header, mixedCases),
	told(migrationStory, header, migrationCases),
	told(leftoverStory, header, leftoverCases),
	told(resumeStory, header, resumeCases),
	told(largeStory, header, largeCases),
)

// told are the cases of a story.
func told(tells func() []history.Event, begins func() history.Header, cases []testCase) []testCase {
	for i := range cases {
		cases[i].tells, cases[i].begins = tells, begins
	}
	return cases
}

var storageVersionCases = []testCase{
	{
		id: "SV-01", reads: either(kinds(history.KindProcess, history.KindReady, history.KindHold), versions, looks),
		fails: "cp2 was ready at revision",
		fail: func(e *edit) {
			// cp2 hosts a resource for which nobody has published anything.
			d := e.events[e.find(1, both(kinds(history.KindDiscovery), of("cp2")))].Discovery
			d.Resources = append(d.Resources, history.HostedResource{Resource: "endpoints", Kind: "Endpoints", Served: []string{"v1"}, Persisted: true})
		},
		why: "saw 2 different members among those servers, and needs at least 3",
		weak: func(e *edit) {
			e.each(both(kinds(history.KindReady), of("cp3")), func(ev *history.Event) { ev.Ready.Revision = 0 })
		},
	},
	{
		id: "SV-02", reads: either(kinds(history.KindProcess, history.KindDiscovery, history.KindHold), versions),
		fails: `StorageVersion "secrets" is not the <group>.<resource> of anything`,
		fail: func(e *edit) {
			// Secrets are published a second time, without the word for their group.
			e.revise(e.version(1, "core.secrets", entries(3)), func(s *history.Stored) {
				s.Key, s.Name, s.Created = "/registry/storageversions/secrets", "secrets", s.Revision
			})
		},
		why:  "saw 0 names of resources of the core group, and needs at least 1",
		weak: func(e *edit) { e.drop(kinds(history.KindHold)) },
	},
	{
		id: "SV-03", reads: either(kinds(history.KindProcess, history.KindReady, history.KindHold), versions, joins, looks, flawed(""),
			both(flawed(history.InvalidDuplicate), lasting)),
		fails: "core.namespaces has more than one entry of apiserver-cp1",
		fail: func(e *edit) {
			sv := e.events[e.version(1, "core.namespaces", entries(1))].Stored.StorageVersion
			sv.Entries = append(sv.Entries, sv.Entries[0])
		},
		why:  "saw 0 StorageVersions compared with the participants at the end of a hold, and needs at least 10",
		weak: func(e *edit) { e.drop(kinds(history.KindHold)) },
	},
	{
		id: "SV-04", reads: either(versions, flawed(""), flawed(history.InvalidUndecodable)),
		fails: "cp1 took a status of core.configmaps whose encoding version cannot be decoded",
		fail: func(e *edit) {
			r := e.events[e.find(1, flawed(history.InvalidUndecodable))].Request
			r.Code, r.Reason = 200, ""
		},
		why: "saw 0 statuses with an undecodable version refused, and needs at least 1",
		weak: func(e *edit) {
			// Who refuses the flawless status too has not looked at the flaw.
			e.each(flawed(""), func(ev *history.Event) { ev.Request.Code, ev.Request.Reason = 422, "Invalid" })
		},
	},
	{
		id: "SV-05", reads: either(kinds(history.KindProcess, history.KindReady, history.KindHold), versions, looks),
		fails: "in reference.evenkeel.dev.ballasts, apiserver-cp1 calls",
		fail: func(e *edit) {
			// cp1 says that it goes on serving what 1.3 only decodes.
			e.each(ahead, func(ev *history.Event) { ev.Stored.StorageVersion.Entries[0].Served = decodable })
		},
		why:  "saw 0 entries compared with their server's discovery, and needs at least 5",
		weak: func(e *edit) { e.drop(kinds(history.KindDiscovery)) },
	},
	{
		id: "SV-06", reads: either(versions, joins, flawed(""), flawed(history.InvalidAgreement)),
		fails: "the agreed version is none and the condition True",
		fail: func(e *edit) {
			e.events[e.version(1, "core.secrets", entries(1))].Stored.StorageVersion.Conditions[0].Status = "True"
		},
		why:  "saw 0 revisions with entries that differ, and needs at least 1",
		weak: (*edit).stopAfterHold,
	},
	{
		id: "SV-07", reads: versions,
		fails: "in core.secrets the transition time moved",
		fail: func(e *edit) {
			c := &e.events[e.version(1, "core.secrets", entries(2))].Stored.StorageVersion.Conditions[0]
			c.Transition = c.Transition.Add(time.Second)
		},
		why:  "saw 0 revisions that took the agreed version away, at another time than the change before, and needs at least 1",
		weak: func(e *edit) { e.stopAt(e.version(1, "core.configmaps", entries(3))) },
	},
	{
		id: "SV-09", reads: either(kinds(history.KindProcess), versions, joins),
		fails: "brought the entry of apiserver-cp3 and lost that of apiserver-cp2",
		fail: func(e *edit) {
			// cp3 writes what it read before cp2 did, and cp2 repairs it.
			before := e.events[e.version(1, "core.secrets", entries(2))].Stored.StorageVersion
			e.revise(e.version(1, "core.secrets", entries(3)), func(s *history.Stored) {
				lost := s.StorageVersion
				lost.Entries = append(lost.Entries[:1], lost.Entries[2])
				lost.Common, lost.Conditions = nil, clone(before).Conditions
			})
		},
		why: "saw 0 entries that a server wrote to an object while another one was starting to do so, and needs at least 5",
		weak: func(e *edit) {
			// Nobody was seen to start, so nobody is known to have started together.
			e.drop(kinds(history.KindProcess))
		},
	},
	{
		id: "SV-11", reads: either(versions, joins),
		fails: "got an entry of apiserver-cp3 at revision",
		fail: func(e *edit) {
			// cp3 joins right after its first entry.
			join := e.find(3, joins)
			late := e.events[join]
			e.events = append(e.events[:join], e.events[join+1:]...)
			first := e.version(1, "core.configmaps", entries(3))
			late.Stored.Revision = e.events[first].Stored.Revision + 1
			late.Stored.Created = late.Stored.Revision
			e.insert(first, late)
		},
		why:  "saw 2 entries that appeared, and needs at least 3",
		weak: func(e *edit) { e.stopAt(e.version(1, "core.configmaps", entries(2))) },
	},
	{
		id: "SV-12", reads: either(kinds(history.KindProcess, history.KindHold), ballastVersions, ballastRequests, ballasts, joins),
		fails: "cp1 accepted a write at revision",
		fail: func(e *edit) {
			// One write comes through while cp1 boots at 1.3, before it has
			// announced that.
			i := e.during("upgrade", func(ev *history.Event) bool { return ballastRequests(ev) && ev.Request.Barrier })
			r := e.events[i].Request
			j := e.during("upgrade", ballastVersions)
			r.Code, r.Barrier, r.Reason, r.Message, r.ResourceVersion = 200, false, "", "", e.events[j].Stored.Revision-1
			e.insert(i, history.Event{Kind: history.KindStored, Stored: &history.Stored{
				Type: history.StoredPut, Key: "/registry/" + ballastGroup + "/ballasts/" + r.Name, Revision: r.ResourceVersion,
				APIVersion: releases["1.3"].encoding, ObjectKind: "Ballast", Name: r.Name, Writer: "cp1", Write: r.Write,
			}})
		},
		also: map[requirement.ID]string{
			"SV-15": "what was written too early is stored in a version that was not announced",
			"SV-21": "and while the old version is still called agreed",
		},
		why:  "saw 0 guarded writes refused by a server that had not registered, and needs at least 5",
		weak: func(e *edit) { e.drop(barred) },
	},
	{
		id: "SV-13", reads: either(kinds(history.KindProcess), versions, requests(exceptions...), barred),
		fails: `cp1 held back a request of class "read"`,
		fail: func(e *edit) {
			r := e.events[e.find(1, both(requests(history.ClassRead), of("cp1")))].Request
			r.Code, r.Barrier, r.Reason, r.ResourceVersion = 503, true, "ServiceUnavailable", 0
			r.Message = "wait for storage version registration to complete for resource: configmaps"
		},
		why:  "saw 0 requests of class custom that passed during the barrier, and needs at least 1",
		weak: func(e *edit) { e.drop(requests(history.ClassCustom)) },
	},
	{
		id: "SV-14", reads: either(kinds(history.KindProcess, history.KindReady, history.KindHold), ballastVersions, ballastRequests, looks),
		fails: "cp2 was ready, refused 1 writes because its registration was not complete, and was ready again",
		fail: func(e *edit) {
			taken := e.find(1, both(ballastRequests, of("cp2"), func(ev *history.Event) bool { return ev.Request.Code == 200 }))
			refusal := e.find(1, both(ballastRequests, of("cp2"), barred))
			ev := e.events[refusal]
			r := *ev.Request
			ev.From, ev.Request = e.events[taken].At, &r
			e.insert(taken, ev)
		},
		why:  "saw 0 starts at which writes were refused before the server was ready, and needs at least 1",
		weak: func(e *edit) { e.drop(barred) },
	},
	{
		id: "SV-15", reads: either(kinds(history.KindProcess), versions, tagged, joins, looks, both(ballastRequests, taken)),
		fails: "when it had announced reference.evenkeel.dev/v1 in reference.evenkeel.dev.ballasts",
		fail: func(e *edit) {
			e.events[e.during("upgrade", ballasts)].Stored.APIVersion = releases["1.2"].encoding
		},
		why:  "saw 1 different versions of one resource in etcd, and needs at least 2",
		weak: (*edit).stopAfterHold,
	},
	{
		id: "SV-21", reads: either(kinds(history.KindProcess), ballastVersions, ballasts, joins, looks),
		fails: "after its restart cp1 has no entry in reference.evenkeel.dev.ballasts",
		fail: func(e *edit) {
			// cp1 takes its old entry out before it puts the new one in.
			e.revise(e.during("upgrade", ballastVersions), func(s *history.Stored) {
				s.StorageVersion.Entries = s.StorageVersion.Entries[1:]
			})
		},
		why:  "saw 0 entries that a restart replaced by another version, and needs at least 1",
		weak: (*edit).stopAfterHold,
	},
	{
		id: "SV-22", reads: either(kinds(history.KindStep, history.KindProcess, history.KindHold), ballasts, shownBallasts, looks),
		fails: `in hold "mixed" the members write`,
		fail: func(e *edit) {
			// Clients of cp2 go on seeing what was agreed before.
			w := e.events[e.during("upgrade", both(shownBallasts, of("cp2")))].Watch
			agreed := releases["1.2"].encoding
			w.StorageVersion.Common = &agreed
		},
		why:  "saw 0 holds after a rollback that changed what is written, and needs at least 1",
		weak: func(e *edit) { e.drop(rollbacks) },
	},
	{
		id: "SV-23", reads: either(kinds(history.KindProcess, history.KindReady, history.KindHold), versions, looks),
		fails: "core.secrets moved to revision",
		fail: func(e *edit) {
			e.revise(e.version(1, "core.secrets", entries(3)), func(*history.Stored) {})
		},
		why:  "saw 0 entries that a restarting server found as it would have written them, and needs at least 1",
		weak: (*edit).stopAfterHold,
	},
}

func flawed(flaw string) keep {
	return both(requests(history.ClassInvalid), func(ev *history.Event) bool { return ev.Request.Invalid == flaw })
}

func lasting(ev *history.Event) bool { return ev.Request != nil && ev.Request.Lasting }

// exceptions are the classes of requests that the barrier lets through.
var exceptions = []string{history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated}

func barred(ev *history.Event) bool { return ev.Request != nil && ev.Request.Barrier }

func taken(ev *history.Event) bool { return ev.Request.Code == 200 }

func tagged(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer != "" }

func rollbacks(ev *history.Event) bool { return ev.Step != nil && ev.Step.Action == "rollback" }

func looks(ev *history.Event) bool { return ev.Discovery != nil }
