package law

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// Of begins an obligation. A law ends it with one of the methods that follow, which give
// it back:
//
//	l.Add(law.Of(lease.Key, at).By(member).Broken("%s was taken twice", lease.Key).Shown(before.Seq, now.Seq))
func Of(about string, began fact.Moment) Entry { return Entry{About: about, Began: began} }

// By is the obligation as one of a member.
func (e Entry) By(member string) Entry {
	e.Member = member
	return e
}

// Met ends an obligation that was met, with what needs may count.
func (e Entry) Met(tags ...string) Entry {
	e.Ending, e.Tags = Met, append(e.Tags[:len(e.Tags):len(e.Tags)], tags...)
	return e
}

// Broken ends an obligation that was broken, with a sentence of who did what.
func (e Entry) Broken(format string, args ...any) Entry { return e.because(Broken, format, args) }

// Late ends an obligation that was met too late, or not by then.
func (e Entry) Late(format string, args ...any) Entry { return e.because(Late, format, args) }

// Unclear ends an obligation of which it is not known whether it was met.
func (e Entry) Unclear(format string, args ...any) Entry { return e.because(Unclear, format, args) }

// Excused ends an obligation that proves nothing.
func (e Entry) Excused(format string, args ...any) Entry { return e.because(Excused, format, args) }

// Open ends an obligation that the end of the history cut off.
func (e Entry) Open(format string, args ...any) Entry { return e.because(Open, format, args) }

func (e Entry) because(ending Ending, format string, args []any) Entry {
	e.Ending, e.Why = ending, fmt.Sprintf(format, args...)
	if len(e.Evidence) == 0 && ending != Excused {
		e.Evidence = evidence(e.Began.Seq)
	}
	return e
}

// Owed is the obligation where it is as certain as the truth that it was owed. The breach of one
// that may have been owed is unclear, and all else that came of it proves nothing.
func (e Entry) Owed(owed fact.Truth) Entry {
	switch breach := e.Ending == Late || e.Ending == Broken; {
	case owed == fact.Yes, owed == fact.Unknown && e.Ending == Unclear:
		return e
	case owed == fact.Unknown && breach:
		return e.Unclear("it is not certain that it was owed: %s", e.Why)
	}
	return Entry{}
}

// Shown is the obligation with the numbers of the events that show how it ended.
func (e Entry) Shown(seqs ...int64) Entry {
	e.Evidence = Evidence(seqs...)
	return e
}

// Alone is the obligation whose evidence alone shows the breach, whatever else a recorder
// may have missed.
func (e Entry) Alone() Entry {
	e.SelfEvident = true
	return e
}

// Unless is the obligation whose breach something would have excused that could have shown
// up to the event of a number.
func (e Entry) Unless(through int64) Entry {
	e.Through = through
	return e
}

// For is the obligation as one that stands for so many alike.
func (e Entry) For(times int64) Entry {
	e.Times = times
	return e
}

// As is the obligation whose breach a documented deviation of a kind may explain, for the
// release of the process that is responsible.
func (e Entry) As(kind, release string) Entry {
	e.Kind, e.Release = kind, release
	return e
}
