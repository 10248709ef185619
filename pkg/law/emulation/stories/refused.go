package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// refusedStory is a run in which programs are started with versions that they must refuse.
func refusedStory() []history.Event {
	b := &Builder{ControlPlane: story.NewControlPlane()}
	for _, try := range []struct{ release, says string }{
		{"1.3 emulating 1.4", "refplane: --emulated-version 1.4 is newer than the release 1.3"},
		{"1.3 emulating 1.2 compatible with 1.3", "refplane: --min-compatibility-version 1.3 is newer than 1.2"},
		{"1.4 emulating 0.1", `refplane: --emulated-version: there is no release "0.1"`},
	} {
		from := b.Now + 1
		b.Advance(500)
		b.Emit(history.Event{Kind: history.KindVersionTrial, Member: "cp1", From: from, VersionTrial: &history.VersionTrial{
			Release: try.release, Exit: "exit status 1", Log: []string{try.says},
		}})
	}
	b.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return b.Events
}

var trials = story.OfKind(history.KindVersionTrial)

var refusedCases = []story.Case{
	{
		Requirement: "EV-08", Reads: trials,
		Fail: func(e *story.Edit) {
			// The program goes on with what it was told, until it finds its address taken.
			ev := e.Event(1, trials)
			ev.VersionTrial = &history.VersionTrial{Release: ev.VersionTrial.Release, Exit: "exit status 1", Log: []string{"listen tcp 127.0.0.1:6443: bind: address already in use"}}
		},
		Weak: func(e *story.Edit) { e.Drop(story.NthOf(e, 2, trials)) },
	},
}
