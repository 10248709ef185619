package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// The events that the requirements are judged by.
var (
	lifecycle = story.AnyOf(story.Lifecycle, story.OfKind(history.KindHostedResources))
	ballasts  = story.AnyOf(story.BallastWrites, story.BallastVersionWrites)
)

const (
	// unknown is a version of ballasts that no release can read.
	unknown = story.BallastGroup + "/v2"
	// newest is the version in which the newer release stores ballasts, and which the old one
	// can read.
	newest = story.BallastGroup + "/v1"
)

// emulating fits what a member did while it emulated for the first time.
func emulating(e *story.Edit, member string, fits story.Match) story.Match {
	started := func(ev *history.Event) bool {
		return ev.Member == member && ev.Process != nil && ev.Process.Change == history.ProcessStarted
	}
	from := e.Event(2, started).At
	to := e.Event(3, started).At
	return func(ev *history.Event) bool { return ev.At > from && ev.At < to && fits(ev) }
}

// AtPoint builds the story with something else at a point that has a name.
func AtPoint(point string, do func(*Builder)) func(*story.Edit) {
	return func(e *story.Edit) {
		e.Events = Window(map[string]func(*Builder){point: do})
	}
}

// windowCases are how the story is changed.
var windowCases = []story.Case{
	{
		Requirement: "EV-01", Reads: story.AnyOf(lifecycle, ballasts),
		Fail: func(e *story.Edit) {
			e.Event(1, emulating(e, "cp1", story.BallastWrites)).Stored.APIVersion = unknown
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.BallastWrites, func(ev *history.Event) bool { return ev.Stored.Writer == "cp2" }))
		},
	},
	{
		Requirement: "EV-06", Reads: story.AnyOf(lifecycle, ballasts),
		// cp1 announces what its binary would store, which the old release can read.
		Fail: AtPoint("cp1 emulates", func(b *Builder) {
			b.ReportEntry(b.Members[0], story.BallastVersion, history.Entry{
				ServerID: b.Members[0].ServerID(), Encoding: newest, Decodable: story.Decodable, Served: story.Releases[old].Served,
			})
		}),
		Weak: func(e *story.Edit) { e.Drop(story.BallastVersionWrites) },
	},
}
