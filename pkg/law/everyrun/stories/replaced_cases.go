package stories

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// AtPoint builds the story with something else at a point that has a name.
func AtPoint(point string, do func(*Builder)) func(*story.Edit) {
	return func(e *story.Edit) {
		before := len(e.Events)
		e.Events = Replaced(map[string]func(*Builder){point: do})
		if len(e.Events) == before {
			panic("the story does not come to " + point)
		}
	}
}

// the events that the requirements are judged by.
var (
	lifecycle    = story.OfKind(history.KindProcess, history.KindReady, history.KindFault)
	reads        = story.OfKind(history.KindRead)
	visibilities = story.OfKind(history.KindVisibility)
	hashes       = story.OfKind(history.KindEtcdHash)
	customs      = story.OfKind(history.KindCustomResourceAnswer)
	balanced     = story.OfKind(history.KindLoadBalancer)
)

// beyond is a time after a bound of a requirement.
func beyond(id requirement.ID, bound string) time.Duration {
	return requirement.MustBound(id, bound) + 6*time.Second
}

// editedRead has a read say something else.
func editedRead(nth int, change func(*history.Read)) func(*story.Edit) {
	return func(e *story.Edit) {
		ev := e.Event(nth, reads)
		r := *ev.Read
		change(&r)
		ev.Read = &r
	}
}

// replacedCases are how the story is changed.
var replacedCases = []story.Case{
	{
		Requirement: "RO-01", Reads: story.AnyOf(lifecycle, reads),
		Fail: editedRead(9, func(r *history.Read) {
			r.Missing, r.Names = 1, []history.ReadName{{Name: "default/t0-cp1", Stored: 120}}
		}),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(reads, story.OfMember("cp3"))) },
	},
	{
		Requirement: "RO-02", Reads: lifecycle,
		Fail: AtPoint("at rest", func(b *Builder) {
			const everySeconds = 2
			for range int(beyond("RO-02", "readyWithin").Seconds()) / everySeconds {
				b.AnswerReady(b.Members[2], 500, false)
				b.Advance(everySeconds * 1000)
			}
			b.AnswerReady(b.Members[2], 200, false)
		}),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(lifecycle, story.OfMember("cp3"))) },
	},
	{
		Requirement: "RO-06", Reads: story.AnyOf(lifecycle, visibilities, reads),
		Fail: AtPoint("at rest", func(b *Builder) {
			b.Write(b.Members[0], "configmaps")
			b.Show(b.Members[1], b.Members[0], beyond("RO-06", "showsWithin"))
		}),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(visibilities, story.OfMember("cp2"))) },
	},
	{
		Requirement: "RO-07", Reads: hashes,
		Fail: func(e *story.Edit) { e.Event(2, hashes).EtcdHash.Members[2].Hash = "98f13708" },
		Weak: func(e *story.Edit) {
			e.Each(hashes, func(ev *history.Event) { ev.EtcdHash.Members[2].Compacted = 90 })
		},
	},
	{
		Requirement: "RO-08", Reads: story.AnyOf(story.UserWrites, story.RequestsOfClass(history.ClassGuarded)),
		Fail: func(e *story.Edit) { e.Drop(story.NthOf(e, 20, story.UserWrites)) },
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.RequestsOfClass(history.ClassGuarded), story.OfMember("cp3")))
		},
	},
	{
		Requirement: "RO-09", Reads: story.AnyOf(lifecycle, customs),
		Fail: func(e *story.Edit) {
			e.Event(1, story.AllOf(customs, story.OfMember("cp2"), func(ev *history.Event) bool { return ev.CustomResourceAnswer.Ready == 200 })).CustomResourceAnswer.Code = 404
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(customs, story.OfMember("cp2"))) },
	},
	{
		Requirement: "RO-11", Reads: story.AnyOf(balanced, story.OfKind(history.KindStep, history.KindFault)),
		Fail: AtPoint("replaced", func(b *Builder) {
			b.Balance(0)
			for range int(beyond("RO-11", "withoutAnswer").Seconds()) {
				b.Advance(1000)
				b.Balance(0)
			}
			b.Balance(200)
		}),
		Weak: func(e *story.Edit) { e.Drop(balanced) },
	},
}
