package law

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// Void is a moment from which on an obligation proves nothing, and why.
type Void struct {
	fact.Moment
	Why string
}

// Voids are moments from which on an obligation proves nothing, all for one reason.
func Voids(why string, moments ...fact.Moment) []Void {
	return fact.Each(moments, func(m fact.Moment) Void { return Void{m, why} })
}

// Ended is the void of what a process owes: its end.
func Ended(p *fact.Process) []Void {
	if p == nil || p.Exited == nil {
		return nil
	}
	return Voids("the process ended", *p.Exited)
}

// Look is a look at whether something has come about, or several alike after each other.
type Look struct {
	// Asked and Answered are when the first of them was sent and answered, Until is when the
	// last one was sent.
	Asked, Answered, Until int64
	// Seq is the number of the event that shows it.
	Seq int64
	// Shows is whether it shows what is owed.
	Shows bool
	// Lasting is whether it holds until the next look was sent: a recorder leaves out that
	// nothing changed.
	Lasting bool
}

// Deadline is a law by which something comes about within a bound. Each moment at which it
// begins to be owed is an obligation; one that begins while an earlier one of the same
// subject goes on is superseded by it, so that no clock begins anew.
type Deadline[F, S any] struct {
	Row
	// Bound names the bound in the catalog; BoundOf computes one that follows from the
	// subject, and has its formula in the catalog.
	Bound   string
	BoundOf func(s S, began fact.Moment) time.Duration
	// Over are the subjects.
	Over func(F) []S
	// Describe says what a subject is about. Optional where S has a method Entry() Entry.
	Describe func(S) Entry
	// Begin is when it begins to be owed, in any order; Once makes one of a single moment.
	Begin func(S) []fact.Moment
	// Perhaps are moments at which it may have begun to be owed, or never did. Where it may have
	// taken longer than the bound it is unclear, and else it proves nothing. Optional.
	Perhaps func(S) []fact.Moment
	// Running is while the clock runs: while all that it takes is there. Optional: always.
	Running func(S) fact.Signal
	// Done is when it came about, in any order. Looks are given instead where only samples show
	// whether it has, in the order of time: it came about between the last one without it and the
	// first one with it, and what no look shows is unclear.
	Done  func(S) []fact.Moment
	Looks func(S) []Look
	// Unrelated is whether what is done may come about without what began. Then it is unclear
	// whether it came about after that where the two moments overlap; else it always did.
	Unrelated bool
	// Void are moments from which on an obligation that is not over proves nothing, in any order:
	// the first one counts. Optional.
	Void func(S) []Void
	// Breach says in a sentence what was late, for how long; done is nil where it never
	// came about. Without it, Lacking says who did what, to which the time is added: "cp-1 was
	// not ready".
	Breach  func(s S, began fact.Moment, done *fact.Moment, took time.Duration) string
	Lacking func(S) string
	// Breaks ends an obligation as broken where something shows that what is owed is not as it
	// has to be, whether or not it had come about in time; else it gives it back. Optional.
	Breaks func(S, Entry) Entry
	// Tag gives tags to an obligation that was met. Optional.
	Tag func(s S, began, done fact.Moment) []string
	// Kind and Release of a breach, for documented deviations. Optional.
	Kind    string
	Release func(s S, began fact.Moment) string
}

// Once is the Begin of a Deadline of which each subject is a single obligation.
func Once[S any](began func(S) fact.Moment) func(S) []fact.Moment {
	return func(s S) []fact.Moment { return []fact.Moment{began(s)} }
}

func (d Deadline[F, S]) judge(facts F, bounds Bounds) *Ledger {
	l := &Ledger{}
	for _, s := range d.Over(facts) {
		c := course[F, S]{Deadline: d, s: s, bounds: bounds, over: bounds.Over(), running: fact.Constant(fact.Yes)}
		if d.Running != nil {
			c.running = d.Running(s)
		}
		if d.Void != nil {
			c.voids = slices.SortedStableFunc(slices.Values(d.Void(s)), func(a, b Void) int { return byTime(a.Moment, b.Moment) })
		}
		if d.Looks != nil {
			c.looks = d.Looks(s)
		} else {
			c.done = slices.SortedStableFunc(slices.Values(d.Done(s)), byTime)
		}
		until := fact.Exactly(fact.Never, 0) // the end of the obligation before
		for _, began := range slices.SortedStableFunc(slices.Values(d.Begin(s)), byTime) {
			e := entryOf(d.Describe, s)
			e.Began = began
			// Where what was done may come about without what began, it may have ended the one
			// before, and come about before this one began.
			if began.Latest <= until.Earliest || began.Latest <= until.Latest && !d.Unrelated {
				e.Ending, e.Why = Superseded, "an earlier one stands for it"
			} else {
				until = c.end(&e)
				c.breaks(&e)
			}
			l.Add(e)
		}
		if d.Perhaps != nil {
			for _, began := range d.Perhaps(s) {
				l.Add(c.perhaps(began))
			}
		}
	}
	return l
}

// perhaps is an obligation that may have begun at a moment.
func (c *course[F, S]) perhaps(began fact.Moment) Entry {
	e, last, bound := entryOf(c.Describe, c.s), c.outcome(began).last, c.bound(began)
	e.Began, e.Most = began, time.Duration(c.running.Lasts(began.Earliest, last.Latest, fact.Unknown))
	if e.Most <= bound {
		return e
	}
	return e.Unclear("it may have been owed for up to %s, and the bound is %s", e.Most.Round(time.Millisecond), bound).Shown(began.Seq, last.Seq)
}

// forever is the end of what goes on when the history ends.
var forever = fact.Exactly(fact.Forever, 0)

// byTime orders moments by when they have certainly come.
func byTime(a, b fact.Moment) int { return cmp.Compare(a.Latest, b.Latest) }

// course is what becomes of the obligations of one subject.
type course[F, S any] struct {
	Deadline[F, S]
	s       S
	bounds  Bounds
	over    fact.Moment
	running fact.Signal
	voids   []Void
	done    []fact.Moment
	looks   []Look
}

// outcome is how an obligation came to its end: the first moment at which what is owed may
// have come about, and the first at which it certainly did; nil where it did not. It lasted
// at least until first, and at most until last.
type outcome struct {
	came, sure  *fact.Moment
	first, last fact.Moment
	void        *Void
}

func (c *course[F, S]) outcome(began fact.Moment) outcome {
	o := outcome{first: c.over, last: c.over}
	if c.Looks != nil {
		c.shown(&o, began)
	} else {
		c.came(&o, began)
	}
	i := slices.IndexFunc(c.voids, func(v Void) bool { return v.Latest >= began.Earliest && v.Before(o.last) != fact.No })
	if i >= 0 {
		o.void, o.last = &c.voids[i], c.voids[i].Moment
		if o.last.Earliest < o.first.Earliest {
			o.first = o.last
		}
	}
	return o
}

func (c *course[F, S]) came(o *outcome, began fact.Moment) {
	for i := range c.done {
		before := c.done[i].Before(began)
		if o.came == nil && before != fact.Yes && c.done[i].Latest >= began.Earliest {
			o.came, o.first = &c.done[i], c.done[i]
		}
		if o.came != nil && (before == fact.No || !c.Unrelated) {
			o.sure, o.last = &c.done[i], c.done[i]
			return
		}
	}
}

// shown finds the first look that shows what is owed. Looks of before it began, and of after
// it was not owed any more, say nothing.
func (c *course[F, S]) shown(o *outcome, began fact.Moment) {
	missing := fact.Exactly(began.Latest, began.Seq) // up to when it had certainly not come about
	lasting, over := false, int64(fact.Forever)
	if i := slices.IndexFunc(c.voids, func(v Void) bool { return v.Latest >= began.Earliest }); i >= 0 {
		over = c.voids[i].Latest
	}
	for _, k := range c.looks {
		if max(k.Answered, k.Until) < began.Latest || k.Asked > over {
			continue
		}
		if lasting {
			missing.Latest = max(missing.Latest, k.Asked)
		}
		if k.Shows {
			m := fact.Moment{Earliest: missing.Latest, Latest: max(k.Answered, began.Latest), Seq: k.Seq}
			m.Earliest = min(m.Earliest, m.Latest)
			o.came, o.sure, o.first, o.last = &m, &m, m, m
			return
		}
		missing.Latest, missing.Seq, lasting = max(missing.Latest, k.Until), k.Seq, k.Lasting
	}
	if lasting {
		missing.Latest = max(missing.Latest, c.over.Latest)
	}
	o.first = fact.Exactly(missing.Latest, missing.Seq)
}

// end ends an obligation, and gives the moment up to which it went on.
func (c *course[F, S]) end(e *Entry) fact.Moment {
	began, o := e.Began, c.outcome(e.Began)
	bound := c.bound(began)
	e.Least = time.Duration(c.running.Lasts(began.Latest, o.first.Earliest, fact.Yes))
	e.Most = time.Duration(c.running.Lasts(began.Earliest, o.last.Latest, fact.Unknown))
	if began.Latest > o.first.Earliest {
		e.Least = 0
	}
	switch {
	case e.Least > bound:
		return c.late(e, o, bound)
	case c.Looks == nil && e.Most > bound && (o.void != nil || o.came == nil && c.running.At(c.over.Latest) == fact.No):
		*e = e.Unclear("it was owed for between %s and %s, and the bound is %s", e.Least.Round(time.Millisecond), e.Most.Round(time.Millisecond), bound).Shown(began.Seq, o.last.Seq)
	case o.void != nil:
		*e = e.Excused("%s", o.void.Why)
	case o.came == nil && c.running.At(c.over.Latest) == fact.No:
		*e = e.Excused("what it takes was not there at the end of the history")
		return forever
	case o.came == nil && c.Looks != nil && e.Most > bound:
		*e = e.Unclear("nothing was recorded that shows whether it came about").Shown(began.Seq, o.first.Seq)
		return forever
	case o.came == nil:
		*e = e.Open("the history ended %s after event %d, and the bound is %s", e.Most.Round(time.Millisecond), began.Seq, bound)
		return forever
	case o.sure == nil && e.Most <= bound:
		*e = e.Unclear("it is not certain whether it came about before or after it began to be owed").Shown(began.Seq, o.came.Seq)
		return *o.came
	case e.Most > bound:
		*e = e.Unclear("it took between %s and %s, and the bound is %s", e.Least.Round(time.Millisecond), e.Most.Round(time.Millisecond), bound).Shown(began.Seq, o.last.Seq)
	default:
		e.Ending = Met
		if c.Tag != nil {
			e.Tags = append(e.Tags[:len(e.Tags):len(e.Tags)], c.Tag(c.s, began, o.last)...)
		}
	}
	return o.last
}

// breaks ends an obligation as broken where something shows that it is.
func (c *course[F, S]) breaks(e *Entry) {
	if c.Breaks != nil && e.Ending != Late {
		*e = c.Breaks(c.s, *e)
	}
}

func (c *course[F, S]) bound(began fact.Moment) time.Duration {
	if c.BoundOf != nil {
		return c.BoundOf(c.s, began)
	}
	return c.bounds.Of(c.Bound)
}

// late ends an obligation that was late, if the machine is not to blame. What shows it is the
// first event after the bound was over: what a recorder missed later takes nothing away from it.
func (c *course[F, S]) late(e *Entry, o outcome, bound time.Duration) fact.Moment {
	at := c.running.Reaches(e.Began.Latest, int64(bound), fact.Yes)
	overdue := c.bounds.over.Evidence(at)
	if i := slices.IndexFunc(c.looks, func(k Look) bool { return !k.Shows && k.Until >= at }); i >= 0 {
		overdue = c.looks[i].Seq
	}
	done := o.came
	if o.void != nil {
		done = nil
	}
	why := ""
	if c.Breach != nil {
		why = c.Breach(c.s, e.Began, done, e.Least)
	} else {
		why = fmt.Sprintf("%s for %s", c.Lacking(c.s), e.Least.Round(100*time.Millisecond))
	}
	e.Ending, e.Why, e.Evidence, e.Kind = Late, why, evidence(e.Began.Seq, overdue), c.Kind
	if c.Release != nil {
		e.Release = c.Release(c.s, e.Began)
	}
	*e = UnlessStarved(c.bounds.over, *e, e.Least-bound, c.running, e.Began.Latest, o.first.Earliest)
	if done == nil {
		return forever // the clock of one that never came about runs on
	}
	return o.last
}
