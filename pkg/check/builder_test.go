package check

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// started is when the histories of these tests begin.
var started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// historyBuilder builds the history of a control plane of the members a and b, in which
// each event takes a millisecond.
type historyBuilder struct {
	header history.Header
	events []history.Event
	next   int // of the events to read
	damage []string
}

func newHistory() *historyBuilder {
	return &historyBuilder{header: history.Header{Started: started, Members: []history.MemberHeader{{Name: "a", Release: "1"}, {Name: "b", Release: "1"}}}}
}

// complete is a history that the harness played to its end.
func complete() *historyBuilder { return newHistory().store(5).end() }

func (b *historyBuilder) Header() history.Header { return b.header }
func (b *historyBuilder) Damage() []string       { return b.damage }

func (b *historyBuilder) Next() (*history.Event, error) {
	if b.next == len(b.events) {
		return nil, io.EOF
	}
	b.next++
	return &b.events[b.next-1], nil
}

func (b *historyBuilder) add(ev history.Event) *historyBuilder {
	ev.Seq = int64(len(b.events) + 1)
	ev.At = ev.Seq * int64(time.Millisecond)
	b.events = append(b.events, ev)
	return b
}

// store puts an object at a revision.
func (b *historyBuilder) store(revision int64) *historyBuilder {
	return b.add(history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/default/x", Revision: revision}})
}

// process changes the life of the first etcd of a.
func (b *historyBuilder) process(change string) *historyBuilder {
	return b.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{Component: history.ComponentEtcd, Change: change, Instance: 1, Expected: true}})
}

func (b *historyBuilder) gap(source string) *historyBuilder {
	return b.add(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: source, Message: "m"}})
}

func (b *historyBuilder) fault(phase history.Phase, proof string) *historyBuilder {
	return b.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Type: "PodChaos", Action: "kill", Component: "etcd", Phase: phase, Proof: proof}})
}

func (b *historyBuilder) hold(phase history.Phase) *historyBuilder {
	return b.add(history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: "h", Phase: phase, Releases: map[string]string{"a": "1", "b": "1"}}})
}

func (b *historyBuilder) end() *historyBuilder {
	return b.add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true, Message: "done"}})
}

// countedFacts are facts of a test's own: the events that store something.
type countedFacts struct {
	observe func(*history.Event)
	stored  []fact.Moment
}

func (f *countedFacts) Observe(ev *history.Event) {
	if f.observe != nil {
		f.observe(ev)
	}
	if ev.Stored != nil {
		f.stored = append(f.stored, fact.Exactly(ev.At, ev.Seq))
	}
}

// invented is a requirement of a test's own, which is met once for a pass.
func invented(id requirement.ID) requirement.Requirement {
	return requirement.Requirement{ID: id, Level: requirement.Must, Promise: "p", Needs: []requirement.Need{{Name: "things", What: "things", Least: 1}}}
}

// invent has a test judge by laws of its own, which rely on the recorder of etcd, instead of
// those of the KEPs.
func invent(t *testing.T, observe func(*history.Event), judges map[requirement.ID]func(*countedFacts, *law.Ledger)) {
	t.Helper()
	var laws []law.Law[*countedFacts]
	for _, id := range law.SortedKeys(judges) {
		laws = append(laws, law.Written[*countedFacts]{
			Row:   law.Row{ID: id, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "things"}}},
			Judge: func(f *countedFacts, l *law.Ledger, _ law.Bounds) { judges[id](f, l) },
		})
	}
	before := keps
	t.Cleanup(func() { keps = before })
	keps = []law.KEP{law.New(func(*fact.History) *countedFacts { return &countedFacts{observe: observe} }, laws)}
}

// judgeBy judges a history by one law of the test's own.
func judgeBy(t *testing.T, told *historyBuilder, judge func(*countedFacts, *law.Ledger)) Result {
	t.Helper()
	invent(t, nil, map[requirement.ID]func(*countedFacts, *law.Ledger){"XX-01": judge})
	j, err := Judge(told, []requirement.Requirement{invented("XX-01")})
	if err != nil {
		t.Fatal(err)
	}
	return j.Results[0]
}

// meets enters one obligation that was met.
func meets(_ *countedFacts, l *law.Ledger) { l.Met("it", fact.Exactly(1, 1)) }

// wantReason demands that a result gives a reason.
func wantReason(t *testing.T, r Result, want string) {
	t.Helper()
	if !strings.Contains(fmt.Sprint(r.Reasons), want) {
		t.Errorf("%s gives the reasons %q, not %q", r.ID, r.Reasons, want)
	}
}
