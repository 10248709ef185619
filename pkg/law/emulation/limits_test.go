package emulation_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/emulation/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// ballastsIn changes what each look at a server says of ballasts.
func ballastsIn(events []history.Event, change func(release string, r *history.HostedResource)) []history.Event {
	release := map[string]string{}
	for i := range events {
		if p := events[i].Process; p != nil && p.Change == history.ProcessStarted {
			release[events[i].Member] = p.Release
		}
		if look := events[i].HostedResources; look != nil {
			for n := range look.Resources {
				if look.Resources[n].Resource == "ballasts" {
					change(release[events[i].Member], &look.Resources[n])
				}
			}
		}
	}
	return events
}

// No server talks itself out of what it is judged on: servers that emulate nothing say that a
// resource is theirs.
func TestEV02_AnEmulatingServerThatCallsAResourceCustomIsJudgedOnIt(t *testing.T) {
	judgetest.Expect(t, "EV-02", ballastsIn(stories.Window(nil), func(release string, r *history.HostedResource) {
		if release == story.Emulating {
			r.Custom, r.Served = true, story.Releases["1.3"].Served
		}
	}), check.Fail)
}

// Where servers hand requests on to their peers, one that lacks a version shows it all the same,
// and one of the older release shows versions of the newer one.
func TestEV02_WhatAPeerMayHaveAnsweredIsUnclear(t *testing.T) {
	const further = story.BallastGroup + "/v2"
	peers := func(events []history.Event) check.Verdict {
		head := story.NewHeader()
		head.Topology = &history.Topology{Settings: map[string]string{"peerDiscovery": "true"}}
		for i := range events {
			events[i].Seq = int64(i + 1)
		}
		return judgetest.Judge(t, &judgetest.Events{Head: head, Lines: events}, "EV-02").Verdict
	}
	back := at("cp1 raised", func(b *stories.Builder) {
		b.Replace("rollback", b.Members[1], "1.2")
		looks := b.Events[len(b.Events)-2].HostedResources.Resources
		for n := range looks {
			if looks[n].Resource == "ballasts" {
				looks[n].Served = append(looks[n].Served, further)
			}
		}
		b.Replace("upgrade", b.Members[1], story.Emulating)
	})
	less := ballastsIn(stories.Window(nil), func(release string, r *history.HostedResource) {
		if release == story.Emulating {
			r.Served = story.Releases["1.3"].Served
		}
	})
	for name, c := range map[string]struct {
		events []history.Event
		want   check.Verdict
	}{
		"all show the same":                  {stories.Window(nil), check.Inconclusive},
		"one shows what a raised peer hosts": {back, check.Inconclusive},
		"all lack a version":                 {less, check.Fail},
	} {
		if got := peers(c.events); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What a member stores that has raised what it emulates, one of the older binaries need not read.
func TestEV03_OwesNoReadAfterAMemberRaised(t *testing.T) {
	for raised, want := range map[bool]check.Verdict{false: check.Fail, true: check.Pass} {
		judgetest.Expect(t, "EV-03", at("cp3 rolled back", func(b *stories.Builder) {
			m := b.Members[2]
			for range 3 {
				b.Write(m, "ballasts")
				b.Write(m, "configmaps")
			}
			b.Read(m, "", "configmaps")
			b.Read(m, story.BallastGroup, "ballasts")
			if raised {
				b.Replace("emulate", b.Members[0], "1.3")
			}
			b.Advance(20_000)
			b.Read(m, story.BallastGroup, "ballasts")
			failed := b.Events[len(b.Events)-1].Read
			failed.Code, failed.Compared, failed.Message = 500, false, "no kind Ballast is registered"
			if raised {
				b.Replace("emulate", b.Members[0], story.Emulating)
			}
		}), want)
	}
}

// Without a majority of etcd no server reads anything.
func TestEV03_AReadWithoutAMajorityOfEtcdIsNoBreach(t *testing.T) {
	for faults, want := range map[int]check.Verdict{1: check.Fail, 2: check.Pass} {
		judgetest.Expect(t, "EV-03", at("cp1 rolled back", func(b *stories.Builder) {
			fault := func(phase history.Phase) {
				for _, m := range b.Members[1 : 1+faults] {
					f := &history.Fault{ID: "apart-" + m.Name, Type: "NetworkChaos", Action: "partition", Component: history.ComponentEtcd, Phase: phase}
					if phase == history.PhaseWitness {
						f.Proof, f.Count = "a request was cut off", 3
					}
					b.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: f})
				}
			}
			fault(history.PhaseInject)
			fault(history.PhaseWitness)
			b.Advance(1000)
			b.Read(b.Members[0], story.BallastGroup, "ballasts")
			failed := b.Events[len(b.Events)-1].Read
			failed.Code, failed.Compared, failed.Message = 500, false, "etcdserver: request timed out"
			b.Advance(1000)
			fault(history.PhaseHeal)
		}), want)
	}
}

// A controller that has decided to begin cannot know of what a server announces while it writes. Of
// what one had announced when the migration was created it knows.
func TestEV07_AMigrationMayBeginAsAServerAnnounces(t *testing.T) {
	writes := requirement.MustBound("KEP-25", "statusWrites")
	announce := func(b *stories.Builder) {
		b.ReportEntry(b.Members[0], story.BallastVersion, history.Entry{ServerID: b.Members[0].ServerID(), Encoding: story.BallastGroup + "/v1", Decodable: story.Decodable, Served: story.Decodable})
	}
	for name, c := range map[string]struct {
		point string
		since time.Duration
		want  check.Verdict
	}{
		"soon after":                  {"asked", writes - time.Second, check.Pass},
		"long after":                  {"asked", writes + time.Second, check.Fail},
		"soon after, created between": {"leading", time.Second, check.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "EV-07", stories.Skip(map[string]func(*stories.Builder){c.point: func(b *stories.Builder) {
				announce(b)
				b.Advance(c.since.Milliseconds())
			}}), c.want)
		})
	}
}
