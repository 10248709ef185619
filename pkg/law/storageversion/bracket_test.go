package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// bracket is a history in which what a bound is about takes a time, as far as the recorder
// can tell: it may have been told late by so much.
type bracket struct {
	id    requirement.ID
	name  string
	bound time.Duration
	build func(took, late time.Duration) *historyBuilder
	// exact is whether both ends are stamped by the harness, and never told late.
	exact bool
}

// until lets time pass up to so long after the first event.
func (t *historyBuilder) until(d time.Duration) *historyBuilder {
	return t.pass(epoch + d - time.Duration(t.now))
}

// leaseLasts is for how long the identity Leases of renews are valid.
const leaseLasts = 10 * time.Second

// told has what follows be told late by a time.
func (t *historyBuilder) told(late time.Duration) *historyBuilder {
	if late > 0 {
		return t.away(late)
	}
	return t
}

var brackets = []bracket{
	{"SV-06", "agreementForms", agreementSettles, func(took, late time.Duration) *historyBuilder {
		h := newHistory().joins("a", 1).joins("b", 2).disagrees(things, 5, "a="+v1, "b="+v1)
		return h.pass(took).told(late).says(things, 6, "a="+v1, "b="+v1).idle(time.Second)
	}, false},
	{"SV-16", "departedGoes", departedEntryGoes, func(took, late time.Duration) *historyBuilder {
		return led(v2).pass(collectorStarts).leaves("b", 10).pass(took).told(late).says(things, 12, "a="+v1).idle(time.Second)
	}, false},
	{"SV-18", "departedGoes", requirement.MustBound("SV-18", "departedGoes"), func(took, late time.Duration) *historyBuilder {
		h := led(v1).says("g.io.ghosts", 10, "x="+v1).pass(collectorStarts).says("g.io.ghosts", 11)
		return h.pass(took).told(late).deletes("g.io.ghosts", 12).idle(time.Second)
	}, false},
	{"SV-08", "joiningShows", joiningShows, func(took, late time.Duration) *historyBuilder {
		return joinsSilently().pass(took).told(late).disagrees(things, 8, "a="+v1, "b="+v1).pass(time.Second).says(things, 9, "a="+v1, "b="+v1, "c="+v1)
	}, false},
	{"SV-10", "registers", registers, func(took, _ time.Duration) *historyBuilder {
		h := newHistory().joins("a", 1).joins("b", 2).says(things, 5, "b="+v1).storms("inject", 0).starts("a", 1)
		return h.edits(4).says(things, 8, "a="+v1, "b="+v1).pass(took-h.since("a")).ready("a", 200, 9).hosts("a", 9)
	}, true},
	{"SV-03", "departedGoes", requirement.MustBound("SV-03", "departedGoes"), func(took, late time.Duration) *historyBuilder {
		h := led(v1).hosts("b", 7).joins("x", 8).says(things, 9, "a="+v1, "b="+v1, "x="+v1).pass(collectorStarts)
		return h.told(late).leaves("x", 10).pass(took-late).holds(history.PhaseBegin, 20).holds(history.PhaseEnd, 20)
	}, false},
	{"SV-03", "tamperRepaired", tamperRepaired, func(took, _ time.Duration) *historyBuilder {
		h := led(v1).asks("b", 200, 9, tampering(things)).deletes(things, 9).says(things, 10, "b="+v1).joins("b", 11)
		return h.pass(took).holds(history.PhaseBegin, 20).holds(history.PhaseEnd, 20)
	}, true},
	{"SV-15", "tamperRepaired", requirement.MustBound("SV-15", "tamperRepaired"), func(took, late time.Duration) *historyBuilder {
		return three(v1).asks("b", 200, 9, tampering(things)).deletes(things, 9).pass(took).told(late).writes("a", v1, 10)
	}, false},
	// The server is silent only when what the harness did need not be put right any more.
	{"SV-08", "tamperRepaired", requirement.MustBound("SV-08", "tamperRepaired") + joiningShows, func(took, late time.Duration) *historyBuilder {
		h := three(v1).asks("b", 200, 9, tampering(things)).says(things, 9, "a="+v1, "b="+v1)
		return h.pass(took).told(late).disagrees(things, 12, "a="+v1, "b="+v1).pass(time.Second).says(things, 13, "a="+v1, "b="+v1, "c="+v1)
	}, false},
	{"SV-22", "tamperRepaired", requirement.MustBound("SV-22", "tamperRepaired"), func(took, _ time.Duration) *historyBuilder {
		h := newHistory()
		for _, m := range []string{"a", "b", "c"} {
			h.hosts(m, 1).shows(m, history.WatchOpened, nil).shows(m, "ADDED", agreed(v1))
		}
		h.asks("b", 200, 9, tampering(things)).pass(took).holds(history.PhaseBegin, 10)
		return h.writes("a", v2, 11).writes("b", v2, 12).writes("c", v2, 13).holds(history.PhaseEnd, 20)
	}, true},
	{"SV-24", "tamperRepaired", requirement.MustBound("SV-24", "tamperRepaired"), func(took, late time.Duration) *historyBuilder {
		h := three(v1).customizes("create", 10).says(soundings, 11, "a="+c1, "b="+c1, "c="+c1).sounds("a", 12)
		return h.asks("b", 200, 13, tampering(soundings)).deletes(soundings, 13).pass(took).told(late).sounds("a", 14)
	}, false},
	{"SV-25", "tamperRepaired", requirement.MustBound("SV-25", "tamperRepaired"), func(took, late time.Duration) *historyBuilder {
		h := switchedOff().says(things, 7, "a="+v1, "b="+v1).asks("a", 200, 7, tampering(things))
		return h.pass(took).told(late).writes("c", v2, 8)
	}, true},
	{"SV-07", "clockSkew", requirement.MustBound("SV-07", "clockSkew"), func(took, late time.Duration) *historyBuilder {
		h := newHistory().says(things, 5, "a="+v1).until(took).told(late).says(things, 6, "a="+v2)
		for _, i := range []int{0, len(h.events) - 1} {
			h.events[i].Stored.StorageVersion.Conditions[0].Transition = started.Add(epoch)
		}
		return h
	}, false},
	{"SV-16", "expiredGoes", requirement.MustBound("SV-16", "expiredGoes") + leaseLasts, func(took, late time.Duration) *historyBuilder {
		return led(v2).renews("b", 10, 3, 0).until(leaseLasts+took).told(late).says(things, 12, "a="+v1).idle(time.Second)
	}, false},
	{"SV-15", "finishesWithin", finishesWithin, func(took, late time.Duration) *historyBuilder {
		h := three(v1, v2, v1).leaves("b", 10).says(things, 11, "a="+v1, "c="+v1)
		return h.pass(took).told(late).writes("b", v2, 12).asks("b", 200, 12, numbered(12), sentBefore(took+time.Second))
	}, false},
}

// since is how long ago a member's server was started last.
func (t *historyBuilder) since(member string) time.Duration {
	for i := len(t.events) - 1; i >= 0; i-- {
		if ev := t.events[i]; ev.Process != nil && ev.Member == member {
			return time.Duration(t.now - ev.At)
		}
	}
	return 0
}

// Inside the bound nothing is blamed, outside of it the requirement fails, and what the
// recorder cannot tell apart is neither a failure nor a pass.
func TestBounds_Bracket(t *testing.T) {
	const little = 100 * time.Millisecond
	for _, b := range brackets {
		t.Run(string(b.id)+" "+b.name, func(t *testing.T) {
			if r := b.build(b.bound-little, 0).judge(t, b.id)[0]; r.ViolationCount > 0 || r.Obligations.Unclear+r.Obligations.Open > 0 {
				t.Errorf("just inside: %v %q", r.Violations, r.Reasons)
			}
			if r := b.build(b.bound+little, 0).judge(t, b.id)[0]; r.Verdict != check.Fail {
				t.Errorf("just outside: %s %q", r.Verdict, r.Reasons)
			}
			if b.exact {
				return
			}
			if r := b.build(b.bound+little, 3*little).judge(t, b.id)[0]; r.Verdict != check.Inconclusive || r.Obligations.Unclear == 0 {
				t.Errorf("in between: %s %v %+v", r.Verdict, r.Violations, r.Obligations)
			}
		})
	}
}
