package everyrun_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// asks has the third member answer a list of ConfigMaps.
func asks(b *stories.Builder, how string, code int) {
	r := history.Read{How: how, Version: "v1", Resource: "configmaps", Code: code}
	if code == 200 {
		r.Items, r.After, r.ResourceVersion, r.Compared, r.Stored = 3, b.Revision, b.Revision, true, 3
	}
	from := b.Now
	b.Advance(5)
	b.Emit(history.Event{Kind: history.KindRead, Member: b.Members[2].Name, From: from, Read: &r})
}

// busyFor has it be busy at two times, and nothing tells what it was at the first and the last
// moment.
func busyFor(took time.Duration) []history.Event {
	return replaced("at rest", func(b *stories.Builder) {
		asks(b, history.ReadCached, 429)
		b.Advance((took - unsure).Milliseconds())
		asks(b, history.ReadCached, 429)
	})
}

// A member that is busy whenever it is asked does not read what etcd holds.
func TestRead_OfAMemberThatIsAlwaysBusy(t *testing.T) {
	longer := requirement.MustBound("RO-01", "answersWithin") + 2*time.Second
	third := longer.Milliseconds() / 3
	for name, c := range map[string]struct {
		want check.Verdict
		do   func(b *stories.Builder)
	}{
		"each time": {check.Fail, func(b *stories.Builder) {
			for range 4 {
				asks(b, history.ReadCached, 429)
				b.Advance(third)
			}
		}},
		"by other answers": {check.Fail, func(b *stories.Builder) {
			asks(b, history.ReadCached, 503)
			b.Advance(2 * third)
			asks(b, history.ReadCached, 504)
			b.Advance(2 * third)
			asks(b, history.ReadCached, 429)
		}},
		"but once": {check.Inconclusive, func(b *stories.Builder) {
			asks(b, history.ReadCached, 429)
			b.Advance(2 * third)
			asks(b, history.ReadCached, 200)
			asks(b, history.ReadCached, 429)
			b.Advance(2 * third)
			asks(b, history.ReadCached, 429)
		}},
		"for another question": {check.Inconclusive, func(b *stories.Builder) {
			asks(b, history.ReadCached, 429)
			b.Advance(4 * third)
			asks(b, history.ReadConsistent, 429)
		}},
		"before it was told of the versions": {check.Inconclusive, func(b *stories.Builder) {
			versions := func() {
				asks(b, history.ReadConsistent, 503)
				b.Events[len(b.Events)-1].Read.Version = ""
			}
			versions()
			b.Advance(2 * third)
			asks(b, history.ReadConsistent, 200)
			b.Advance(2 * third)
			versions()
		}},
		"in another process": {check.Inconclusive, func(b *stories.Builder) {
			asks(b, history.ReadCached, 429)
			b.Advance(2 * third)
			b.Exit(b.Members[2], "exit status 0", true)
			b.Serve(b.Members[2], "1.2")
			b.Advance(2 * third)
			asks(b, history.ReadCached, 429)
		}},
		"beside a fault for most of the time": {check.Inconclusive, func(b *stories.Builder) {
			asks(b, history.ReadCached, 429)
			slow(b, b.Members[2], func() { b.Advance(4 * third) })
			asks(b, history.ReadCached, 429)
		}},
	} {
		t.Run(name, func(t *testing.T) { judgetest.Expect(t, "RO-01", replaced("at rest", c.do), c.want) })
	}
}

func TestAnswersWithin_Bracket(t *testing.T) {
	bound := requirement.MustBound("RO-01", "answersWithin")
	judgetest.Expect(t, "RO-01", busyFor(bound), check.Inconclusive)
	judgetest.Expect(t, "RO-01", busyFor(bound+2*unsure), check.Fail)
	judgetest.StarvedBracket(t, "RO-01", "answersWithin", between(func(ev *history.Event) bool { return ev.Read != nil && ev.Read.Code == 429 }), busyFor)
}
