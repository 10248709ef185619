package fact

import (
	"math"
	"slices"
	"sort"
)

// Signal is a condition over time: a Truth at each instant, kept as the changes of it.
// The zero Signal is No at all times. Signals are values and never changed in place.
type Signal struct {
	// first is the value before the first change.
	first Truth
	// changes are in the order of time, with no two alike after each other.
	changes []change
}

type change struct {
	at    int64
	value Truth
}

// Forever and Never are the last and the first instant.
const (
	Forever = math.MaxInt64
	Never   = math.MinInt64
)

// Constant is a signal that never changes.
func Constant(value Truth) Signal { return Signal{first: value} }

// Builder makes a signal of changes in the order in which they came about.
type Builder struct {
	signal Signal
	value  Truth
}

// Begin sets the value before the first change; No if it is not called.
func (b *Builder) Begin(value Truth) {
	b.signal.first, b.value = value, value
}

// Set has the signal take a value at a moment: it is Unknown from the moment's Earliest
// to its Latest, and has the value from then on. A moment that lies before the last
// change takes effect after that one.
func (b *Builder) Set(m Moment, value Truth) {
	if value == b.value {
		return
	}
	if m.Earliest < m.Latest {
		b.append(m.Earliest, Unknown)
	}
	b.append(m.Latest, value)
	b.value = value
}

// SetAt has the signal take a value at an instant.
func (b *Builder) SetAt(at int64, value Truth) { b.Set(Exactly(at, 0), value) }

func (b *Builder) append(at int64, value Truth) {
	c := b.signal.changes
	if n := len(c); n > 0 {
		at = max(at, c[n-1].at)
		if c[n-1].at == at {
			c = c[:n-1]
		}
	}
	last := b.signal.first
	if n := len(c); n > 0 {
		last = c[n-1].value
	}
	if last != value {
		c = append(c, change{at, value})
	}
	b.signal.changes = c
}

// Signal is what was built so far.
func (b *Builder) Signal() Signal {
	return Signal{first: b.signal.first, changes: slices.Clone(b.signal.changes)}
}

// At is the value at an instant.
func (s Signal) At(at int64) Truth {
	if i := s.after(at); i > 0 {
		return s.changes[i-1].value
	}
	return s.first
}

// after is the index of the first change after an instant.
func (s Signal) after(at int64) int {
	return sort.Search(len(s.changes), func(i int) bool { return s.changes[i].at > at })
}

// During is the value at a moment: that which the signal has all the time in which the
// moment may lie, and Unknown if it has several.
func (s Signal) During(m Moment) Truth {
	value := s.At(m.Earliest)
	for _, c := range s.between(m.Earliest, m.Latest) {
		if c.value != value {
			return Unknown
		}
	}
	return value
}

// between are the changes after one instant, up to another one.
func (s Signal) between(from, to int64) []change {
	return s.changes[s.after(from):s.after(max(from, to))]
}

// Lasts is for how many nanoseconds between two instants the signal is at least a value:
// with Yes the time in which it certainly holds, with Unknown that in which it may hold.
func (s Signal) Lasts(from, to int64, atLeast Truth) int64 {
	total := int64(0)
	s.each(from, to, func(begin, end int64, value Truth) bool {
		if value >= atLeast {
			total += end - begin
		}
		return true
	})
	return total
}

// Reaches is the instant at which the signal, from an instant on, was at least the value
// for so long in all; Forever if it never was.
func (s Signal) Reaches(from, total int64, atLeast Truth) int64 {
	reached := int64(Forever)
	s.each(from, Forever, func(begin, end int64, value Truth) bool {
		if value < atLeast {
			return true
		}
		if end-begin > total {
			reached = begin + total
			return false
		}
		total -= end - begin
		return true
	})
	return reached
}

// each calls do with each stretch of one value between two instants, until it returns
// false.
func (s Signal) each(from, to int64, do func(begin, end int64, value Truth) bool) {
	value := s.At(from)
	for _, c := range s.between(from, to) {
		if c.at > from && !do(from, c.at, value) {
			return
		}
		from, value = c.at, c.value
	}
	if from < to {
		do(from, to, value)
	}
}

// Span is a stretch of time: from the instant Begin up to End.
type Span struct{ Begin, End int64 }

// Spans are the stretches in which the signal is at least a value, in the order of time.
// One that lasts to the end of the history ends at Forever.
func (s Signal) Spans(atLeast Truth) []Span {
	var out []Span
	s.each(Never, Forever, func(begin, end int64, value Truth) bool {
		switch {
		case value < atLeast:
		case len(out) > 0 && out[len(out)-1].End == begin:
			out[len(out)-1].End = end
		default:
			out = append(out, Span{begin, end})
		}
		return true
	})
	return out
}

// Not is the negation of a signal.
func Not(s Signal) Signal {
	out := Signal{first: s.first.Not(), changes: make([]change, len(s.changes))}
	for i, c := range s.changes {
		out.changes[i] = change{c.at, c.value.Not()}
	}
	return out
}

// And holds while all of the signals do; And() always holds.
func And(signals ...Signal) Signal {
	return combine(Yes, func(a, b Truth) Truth { return min(a, b) }, signals)
}

// Or holds while any of the signals does; Or() never holds.
func Or(signals ...Signal) Signal {
	return combine(No, func(a, b Truth) Truth { return max(a, b) }, signals)
}

// combine joins halves, which keeps the work at n log n for many signals.
func combine(neutral Truth, join func(a, b Truth) Truth, signals []Signal) Signal {
	half := len(signals) / 2
	switch len(signals) {
	case 0:
		return Constant(neutral)
	case 1:
		return signals[0]
	}
	return join2(join, combine(neutral, join, signals[:half]), combine(neutral, join, signals[half:]))
}

func join2(join func(a, b Truth) Truth, a, b Signal) Signal {
	var out Builder
	out.Begin(join(a.first, b.first))
	x, y := a.first, b.first
	for i, j := 0, 0; i < len(a.changes) || j < len(b.changes); {
		at := min(a.instant(i), b.instant(j))
		if i < len(a.changes) && a.changes[i].at == at {
			x, i = a.changes[i].value, i+1
		}
		if j < len(b.changes) && b.changes[j].at == at {
			y, j = b.changes[j].value, j+1
		}
		out.append(at, join(x, y))
	}
	return out.signal
}

// instant is that of a change; Forever after the last one.
func (s Signal) instant(i int) int64 {
	if i < len(s.changes) {
		return s.changes[i].at
	}
	return Forever
}

// Rises are the moments at which the signal becomes Yes: each from when it may have been
// so first. A dip to Unknown is no end of it. Their Seq is 0.
func (s Signal) Rises() []Moment {
	var out []Moment
	yes := s.Spans(Yes)
	for _, maybe := range s.Spans(Unknown) {
		i := sort.Search(len(yes), func(i int) bool { return yes[i].Begin >= maybe.Begin })
		if i < len(yes) && yes[i].Begin < maybe.End && yes[i].Begin != Never {
			out = append(out, Moment{Earliest: max(maybe.Begin, Never+1), Latest: yes[i].Begin})
		}
	}
	return out
}

// MayRise are the moments at which the signal may become Yes, or never does: in each all of the
// stretch lies in which it may be so and never certainly is. Their Seq is 0.
func (s Signal) MayRise() []Moment {
	var out []Moment
	yes := s.Spans(Yes)
	for _, maybe := range s.Spans(Unknown) {
		if i := sort.Search(len(yes), func(i int) bool { return yes[i].Begin >= maybe.Begin }); i == len(yes) || yes[i].Begin >= maybe.End {
			out = append(out, Moment{Earliest: max(maybe.Begin, Never+1), Latest: maybe.End})
		}
	}
	return out
}

// Since delays the signal: it is Yes only when it has been so for a time, and Unknown when it
// may have been.
func (s Signal) Since(ns int64) Signal {
	return Or(s.lasting(ns, Yes), And(s.lasting(ns, Unknown), Constant(Unknown)))
}

// lasting is Yes when the signal has been at least a value for a time.
func (s Signal) lasting(ns int64, atLeast Truth) Signal {
	var b Builder
	for _, span := range s.Spans(atLeast) {
		if span.Begin == Never {
			b.Begin(Yes)
		} else if span.End-span.Begin > ns {
			b.SetAt(span.Begin+ns, Yes)
		}
		if span.End < Forever {
			b.SetAt(span.End, No)
		}
	}
	return b.Signal()
}

// Warm is the signal of something that takes a time to start: it is Yes only when it has
// been so for that time, and Unknown while it may have started sooner.
func (s Signal) Warm(ns int64) Signal { return Or(s.Since(ns), And(s, Constant(Unknown))) }
