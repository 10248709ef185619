package stories

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// unavailable is for how long a member answers discovery with 503. It is far longer
// than the 10 s in which a change has to show.
const unavailable = 5 * time.Minute

// WrongGreens gives stories that break a requirement plainly and that a judge with one
// state machine for each requirement passed: their obligations end silently. They are
// not among All.
func WrongGreens() []story.Story {
	return []story.Story{
		story.Named(All(), "AD-13/pass").With("unavailable after delete", story.Fail, unavailableAfterDelete),
	}
}

// unavailableAfterDelete has cp2 answer /readyz with 200 and /apis with 503 after a
// custom resource was deleted, and show the change when /apis is available again.
func unavailableAfterDelete(e *story.Edit) {
	deletion := func(ev *history.Event) bool {
		return defines("buoys")(ev) && len(ev.Request.Defines.Versions) == 0
	}
	afterwards := e.After(deletion)
	refused := history.DiscoveryDocument{Path: "/apis", Accept: v2JSON, Code: 503}
	*e.Document(1, story.AllOf(polls, story.OfMember("cp2"), afterwards)) = refused
	pause := e.Find(1, story.AllOf(definitions, afterwards))
	begin := e.Events[pause-1].At
	e.Delay(pause, unavailable)

	for at := begin + int64(time.Second); at < begin+int64(unavailable); at += int64(time.Second) {
		for _, member := range []string{"cp1", "cp2", "cp3"} {
			ready := *e.Event(1, func(ev *history.Event) bool { return ev.Ready != nil && ev.Member == member })
			answer := *ready.Ready
			e.InsertAt(history.Event{Kind: history.KindReady, Member: member, At: at, From: at - 3*story.Millisecond, Ready: &answer})
		}
		document := refused
		e.InsertAt(history.Event{Kind: history.KindDiscoveryDocument, Member: "cp2", At: at + 5*story.Millisecond, From: at + 3*story.Millisecond, DiscoveryDocument: &document})
	}
}
