package emulation_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/emulation/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

func at(point string, do func(*stories.Builder)) []history.Event {
	return stories.Window(map[string]func(*stories.Builder){point: do})
}

// storeUntagged has a client without a tag store a ballast in a version that no release reads.
func storeUntagged(b *stories.Builder) {
	b.Advance(1000)
	b.Store("/registry/"+story.BallastGroup+"/ballasts/default/other", story.BallastGroup+"/v2", "Ballast", "default/other", history.Stored{})
	b.Advance(1000)
}

// Who made a change that has no tag is not known: it is owed while every server owes it.
func TestEV01_ChangesWithoutATagAreOwedUntilTheFirstMemberRaises(t *testing.T) {
	judgetest.Expect(t, "EV-01", at("cp3 emulates", storeUntagged), check.Fail)
	judgetest.Expect(t, "EV-01", at("cp1 raised", storeUntagged), check.Pass)
}

// lacks has cp1, which was lowered while the others behave like the newer release, list no
// version that the newer one has removed.
func lacks() []history.Event {
	events := stories.Window(nil)
	for i := len(events) - 1; i >= 0; i-- {
		if look := events[i].HostedResources; look != nil {
			for r := range look.Resources {
				if look.Resources[r].Resource == "ballasts" {
					look.Resources[r].Served = story.Releases["1.3"].Served
				}
			}
			return events
		}
	}
	panic("the story has no look")
}

// A server whose group does not list a version may serve it all the same, if another one has
// taken it out of the list: only an answer for the version tells.
func TestEV02_AVersionThatWasNotAskedForIsUnclear(t *testing.T) {
	judgetest.Expect(t, "EV-02", lacks(), check.Fail)
	e := story.Edit{Events: lacks()}
	e.Drop(story.BallastVersionWrites)
	judgetest.Expect(t, "EV-02", e.Events, check.Inconclusive)
}

// Once a member has raised what it emulates, the control plane does not owe that the binaries
// can be rolled back.
func TestEV03_OwesNothingAfterTheFirstMemberRaised(t *testing.T) {
	judgetest.Expect(t, "EV-03", at("cp1 raised", func(b *stories.Builder) {
		b.Replace("rollback", b.Members[1], "1.2")
		for range 10 {
			b.Advance(int64(2 * time.Second / time.Millisecond))
			b.Refuse(b.Members[1], story.BallastGroup, "ballasts")
		}
		b.Replace("upgrade", b.Members[1], story.Emulating)
	}), check.Pass)
}

// A read that differs from etcd breaks the promise, however soon the member takes writes.
func TestEV03_AWrongReadAfterARollbackBreaksIt(t *testing.T) {
	events := stories.Window(nil)
	rolledBack := false
	for i := range events {
		if p := events[i].Process; p != nil && p.Release == "1.2" && p.Instance == 3 {
			rolledBack = true
		}
		if events[i].Read != nil && rolledBack {
			events[i].Read.Missing = 1
			break
		}
	}
	judgetest.Expect(t, "EV-03", events, check.Fail)
}

// A program that ends without a failure, or that the harness had to end, has refused nothing.
func TestEV08_WhatEndsWithoutAFailureHasRefusedNothing(t *testing.T) {
	for exit, want := range map[string]check.Verdict{"exit status 0": check.Fail, "": check.Inconclusive} {
		s := story.Named(stories.All(), "EV-08/pass")
		events := s.Events()
		events[0].VersionTrial.Exit = exit
		judgetest.Expect(t, "EV-08", events, want)
	}
}

// A member that answers reads of one resource shows nothing of another one, all reads of which it
// refuses.
func TestEV03_AResourceThatIsNeverReadIsUnclear(t *testing.T) {
	events := stories.Window(nil)
	rolledBack := ""
	for i := range events {
		if p := events[i].Process; p != nil && p.Release == "1.2" && p.Instance == 3 {
			rolledBack = events[i].Member
		}
		if r := events[i].Read; r != nil && events[i].Member == rolledBack && r.Resource == "ballasts" {
			r.Code, r.Compared, r.Items = 503, false, 0
		}
	}
	judgetest.Expect(t, "EV-03", events, check.Inconclusive)
}
