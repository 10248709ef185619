package stories

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// The events that the requirements are judged by.
var (
	lifecycle = story.AnyOf(story.Lifecycle, story.OfKind(history.KindHostedResources))
	ballasts  = story.AnyOf(story.BallastWrites, story.BallastVersionWrites)
	requests  = story.RequestsOfClass(history.ClassGuarded)
	reads     = story.OfKind(history.KindRead)
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

// refuses has cp1 refuse writes of ballasts for longer than the bound.
func refuses(b *Builder) {
	for from := b.Now; time.Duration(b.Now-from) < beyond; b.Advance(2000) {
		b.Refuse(b.Members[0], story.BallastGroup, "ballasts")
	}
}

// beyond is later than EV-03 and EV-04 allow.
var beyond = requirement.MustBound("EV-03", "takesWritesWithin") + 4*time.Second

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
		Requirement: "EV-02", Reads: story.AnyOf(lifecycle, story.BallastVersionWrites),
		Fail: func(e *story.Edit) {
			// cp1 does not host what its binary has removed.
			for i, r := range e.Event(1, emulating(e, "cp1", story.DiscoveryReads)).HostedResources.Resources {
				if r.Resource == "ballasts" {
					e.Event(1, emulating(e, "cp1", story.DiscoveryReads)).HostedResources.Resources[i].Served = story.Releases[newer].Served
				}
			}
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.DiscoveryReads, story.OfMember("cp3"))) },
	},
	{
		Requirement: "EV-03", Reads: story.AnyOf(lifecycle, requests, reads),
		Fail: AtPoint("cp1 rolled back", refuses),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(reads, story.OfMember("cp2"))) },
	},
	{
		Requirement: "EV-04", Reads: story.AnyOf(lifecycle, requests),
		Fail: AtPoint("cp1 raised", refuses),
		Weak: func(e *story.Edit) {
			e.StopAt(e.FindLast(func(ev *history.Event) bool { return ev.Process != nil && ev.Process.Change == history.ProcessExited }))
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
