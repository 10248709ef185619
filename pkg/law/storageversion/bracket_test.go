package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// bracket is a history in which what a bound is about takes a time, as far as the recorder
// can tell: it may have been told late by so much.
type bracket struct {
	id    requirement.ID
	name  string
	bound time.Duration
	build func(took, late time.Duration) *historyBuilder
}

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
	}},
	{"SV-16", "departedGoes", departedEntryGoes, func(took, late time.Duration) *historyBuilder {
		return led(v2).pass(collectorStarts).leaves("b", 10).pass(took).told(late).says(things, 12, "a="+v1).idle(time.Second)
	}},
	{"SV-18", "departedGoes", requirement.MustBound("SV-18", "departedGoes"), func(took, late time.Duration) *historyBuilder {
		h := led(v1).says("g.io.ghosts", 10, "x="+v1).pass(collectorStarts).says("g.io.ghosts", 11)
		return h.pass(took).told(late).deletes("g.io.ghosts", 12).idle(time.Second)
	}},
	{"SV-08", "joiningShows", joiningShows, func(took, late time.Duration) *historyBuilder {
		return joinsSilently().pass(took).told(late).disagrees(things, 8, "a="+v1, "b="+v1).pass(time.Second).says(things, 9, "a="+v1, "b="+v1, "c="+v1)
	}},
	{"SV-10", "registers", registers, func(took, _ time.Duration) *historyBuilder {
		h := newHistory().joins("a", 1).joins("b", 2).says(things, 5, "b="+v1).storms("inject", 0).starts("a", 1)
		return h.edits(4).says(things, 8, "a="+v1, "b="+v1).pass(took-h.since("a")).ready("a", 200, 9).hosts("a", 9)
	}},
	{"SV-15", "finishesWithin", finishesWithin, func(took, late time.Duration) *historyBuilder {
		h := three(v1, v2, v1).leaves("b", 10).says(things, 11, "a="+v1, "c="+v1)
		return h.pass(took).told(late).writes("b", v2, 12).asks("b", 200, 12, numbered(12), sentBefore(took+time.Second))
	}},
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
			if b.id == "SV-10" {
				return // readiness is asked for, and not told late
			}
			if r := b.build(b.bound+little, 3*little).judge(t, b.id)[0]; r.Verdict != check.Inconclusive || r.Obligations.Unclear == 0 {
				t.Errorf("in between: %s %v %+v", r.Verdict, r.Violations, r.Obligations)
			}
		})
	}
}
