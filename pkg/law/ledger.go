package law

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Ending is how an obligation ended.
type Ending string

// The endings.
const (
	// Met: what the law asks for came about, in time.
	Met Ending = "met"
	// Late: it came about after the bound, or had not when the bound was over.
	Late Ending = "late"
	// Broken: what must never be was seen.
	Broken Ending = "broken"
	// Unclear: by what is known of the times it may have been in time or not.
	Unclear Ending = "unclear"
	// Excused: it proves nothing, for a reason that is told.
	Excused Ending = "excused"
	// Superseded: it began while an earlier one of the same kind went on, which stands
	// for it.
	Superseded Ending = "superseded"
	// Open: the history ended before the bound was over.
	Open Ending = "open"
)

// Endings are all of them, in the order in which they are told.
var Endings = []Ending{Met, Late, Broken, Unclear, Excused, Superseded, Open}

// Entry is an obligation and how it ended.
type Entry struct {
	Ending Ending
	// About is what it is about, such as the key of a Lease.
	About string
	// Member that has to do what the law asks for, where it is one.
	Member string
	// Began is when it began.
	Began fact.Moment
	// Least and Most are between which times it took, for one with a bound.
	Least, Most time.Duration
	// Why is the reason in words, of what is late, broken, unclear or excused.
	Why string
	// Evidence are the numbers of the events that show it.
	Evidence []int64
	// Through is the number of the last event in which what excuses a breach could have
	// shown, where that is later than its evidence; else 0.
	Through int64
	// SelfEvident is whether the evidence alone shows a breach, whatever else a recorder
	// may have missed.
	SelfEvident bool
	// Tags are what a need may count.
	Tags []string
	// Times is how many obligations it stands for, which are alike and ended alike; 0
	// is one. A hundred thousand objects that are as they should be are one entry.
	Times int64
	// Kind of a breach, by which documented deviations know it, and the Release of the
	// process that is responsible.
	Kind, Release string
}

// times is how many obligations an entry stands for.
func (e *Entry) times() int64 { return max(e.Times, 1) }

// Ledger has all obligations of one law.
type Ledger struct {
	Entries []Entry
	// doubts are reasons not to pass that are of no single obligation.
	doubts []string
}

// Add enters obligations; those without an ending were never owed.
func (l *Ledger) Add(entries ...Entry) {
	for _, e := range entries {
		if e.Ending != "" {
			l.Entries = append(l.Entries, e)
		}
	}
}

// Met enters an obligation that was met, MetBy one that a member met.
func (l *Ledger) Met(about string, at fact.Moment, tags ...string) { l.Add(Of(about, at).Met(tags...)) }

// MetBy is Met by a member.
func (l *Ledger) MetBy(member, about string, at fact.Moment, tags ...string) {
	l.Add(Of(about, at).By(member).Met(tags...))
}

// Broken enters a breach that follows from the evidence and from what was seen before: it
// counts only where the recorders missed nothing.
func (l *Ledger) Broken(about string, at fact.Moment, evidence []int64, format string, args ...any) {
	l.BrokenUnless(0, about, at, evidence, format, args...)
}

// BrokenUnless enters a breach that something would have excused that could have shown up
// to the event of the number through.
func (l *Ledger) BrokenUnless(through int64, about string, at fact.Moment, evidence []int64, format string, args ...any) {
	e := Of(about, at).Broken(format, args...).Unless(through)
	e.Evidence = evidence
	l.Add(e)
}

// Unclear enters an obligation of which it is not known whether it was met.
func (l *Ledger) Unclear(about string, at fact.Moment, format string, args ...any) {
	l.Add(Of(about, at).Unclear(format, args...))
}

// Excused enters an obligation that proves nothing, and why.
func (l *Ledger) Excused(about string, at fact.Moment, why string) {
	l.Add(Of(about, at).Excused("%s", why))
}

// Open enters an obligation that the end of the history cut off.
func (l *Ledger) Open(about string, at fact.Moment, format string, args ...any) {
	l.Add(Of(about, at).Open(format, args...))
}

// Doubt is a reason not to pass that is of no single obligation.
func (l *Ledger) Doubt(format string, args ...any) {
	l.doubts = append(l.doubts, fmt.Sprintf(format, args...))
}

// forget takes out what a history does not show of a control plane that was there before it.
// When an obligation began that did so before the recorders is not known, nor what became of it
// meanwhile: it counts only if it is late even from when the recorders began. What a law that
// judges by the life of processes and by etcd takes for met right after does not count either.
func (l *Ledger) forget(h *fact.History, row Row) {
	if !h.Midway() {
		return
	}
	l.Entries = fact.Where(l.Entries, func(e Entry) bool {
		if e.Began.Given() {
			return e.Ending == Late
		}
		return e.Ending != Met || row.Takes != nil || e.Began.Earliest > int64(history.BeginningSettles)
	})
}

// Of are the entries with an ending.
func (l *Ledger) Of(ending Ending) []Entry {
	return fact.Where(l.Entries, func(e Entry) bool { return e.Ending == ending })
}

// Count is how many obligations have an ending.
func (l *Ledger) Count(ending Ending) int64 {
	c := l.Counts()
	return *c.of(ending)
}

// Tagged is how many obligations with a tag were met.
func (l *Ledger) Tagged(tag string) int64 { return Need{Tag: tag}.count(l, nil) }

// Counts are how many obligations had each ending.
type Counts struct {
	// Met counts the obligations that were kept.
	Met int64 `json:"met"`
	// Late counts those that were not kept within their bound.
	Late int64 `json:"late,omitempty"`
	// Broken counts those that were broken.
	Broken int64 `json:"broken,omitempty"`
	// Unclear counts those of which the history does not say whether they were kept.
	Unclear int64 `json:"unclear,omitempty"`
	// Excused counts those that prove nothing, for one of the reasons in excuses.
	Excused int64 `json:"excused,omitempty"`
	// Superseded counts those that began while an earlier one of the same kind went on.
	Superseded int64 `json:"superseded,omitempty"`
	// Open counts those that had not ended when the history did.
	Open int64 `json:"open,omitempty"`
	// Excuses are the reasons of those that were excused, with how many each has.
	Excuses map[string]int64 `json:"excuses,omitempty"`
}

// of is the count of an ending.
func (c *Counts) of(ending Ending) *int64 {
	return map[Ending]*int64{
		Met: &c.Met, Late: &c.Late, Broken: &c.Broken, Unclear: &c.Unclear, Excused: &c.Excused, Superseded: &c.Superseded, Open: &c.Open,
	}[ending]
}

// Counts of the ledger.
func (l *Ledger) Counts() Counts {
	c, byEnding := Counts{}, map[Ending]int64{}
	for i := range l.Entries {
		e := &l.Entries[i]
		byEnding[e.Ending] += e.times()
		if e.Ending == Excused {
			if c.Excuses == nil {
				c.Excuses = map[string]int64{}
			}
			c.Excuses[e.Why] += e.times()
		}
	}
	for _, ending := range Endings {
		*c.of(ending) = byEnding[ending]
	}
	return c
}

// Words are the counts in a sentence, for people.
func (c Counts) Words() string {
	var out []string
	for _, ending := range Endings {
		if count := *c.of(ending); count > 0 || ending == Met {
			out = append(out, fmt.Sprintf("%d %s", count, ending))
		}
	}
	words := strings.Join(out, ", ")
	if c.Excused > 0 {
		words += ": " + excuses(c.Excuses)
	}
	return words
}
