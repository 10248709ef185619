package discovery

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// duty is what a member owes from a moment on: to give documents with which nothing is
// wrong, the first one within a bound.
type duty struct {
	*member
	about string
	// since says what happened when it began, and shown are the events that show that.
	since string
	began fact.Moment
	shown []int64
	// until is when it is not owed any more, and why says what happened then. Without a reason
	// a member that has not shown it by then owes it on: what comes later shows it too.
	until fact.Moment
	why   string
	// wrong says what is wrong with a document that does not show it, empty if nothing is.
	// A process that had the time of the bound must give none.
	wrong func(*answer) string
	// never says what must be in no document at all. Optional.
	never func(*answer) string
	// group is the one whose changes may explain what is wrong with a document while they are
	// under way. Optional.
	group string
	// tags of a duty that was fulfilled at a moment.
	tags func(done fact.Moment) []string
}

// always gives a tag whatever was done.
func always(tag string) func(fact.Moment) []string {
	return func(fact.Moment) []string { return []string{tag} }
}

// endless is the end of a duty that has none.
var endless = fact.Exactly(fact.Forever, 0)

// dutyLaw is a law by which members fulfill duties within a bound, and go on to. The clock
// runs while something of the member holds.
func dutyLaw(row law.Row, bound string, running func(*member) fact.Signal, over func(*Facts) []duty) law.Law[*Facts] {
	return law.Deadline[*Facts, duty]{
		Row: row, Bound: bound, Over: over,
		Describe: func(d duty) law.Entry { return law.Of(d.about, d.began).By(d.name) },
		Begin:    law.Once(func(d duty) fact.Moment { return d.began }),
		Running:  func(d duty) fact.Signal { return running(d.member) },
		Looks:    duty.looksSince,
		Void: func(d duty) []law.Void {
			if d.why == "" {
				return nil
			}
			return law.Voids(d.why, d.until)
		},
		Breach: func(d duty, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
			return d.says(took, d.instead())
		},
		Breaks: func(d duty, e law.Entry) law.Entry {
			return d.breaks(e, running(d.member), requirement.MustBound(row.ID, bound))
		},
		Tag: func(d duty, _, done fact.Moment) []string { return d.tags(done) },
	}
}

func (d duty) says(took time.Duration, wrong string) string {
	return fmt.Sprintf("%s after %s, %s %s", took.Round(100*time.Millisecond), d.since, d.name, wrong)
}

func (d duty) shows(k *answer) bool { return k.told() != nil && d.wrong(k) == "" }

// looksSince are the looks since it began, up to the first that shows it.
func (d duty) looksSince() (out []law.Look) {
	for _, k := range d.from(d.began.Latest) {
		out = append(out, law.Look{Asked: k.from, Answered: k.at, Until: k.from, Seq: k.seq, Shows: d.shows(k), Lasting: k.lasting()})
		if out[len(out)-1].Shows {
			break
		}
	}
	return out
}

// instead is what the last look had that did not show it.
func (d duty) instead() string {
	wrong := "gave no document that shows it"
	for _, k := range d.from(d.began.Latest) {
		switch {
		case d.shows(k) || d.why != "" && k.from > d.until.Latest:
			return wrong
		case k.told() == nil:
			wrong = "gave no document that shows it: it " + k.says()
		default:
			wrong = d.wrong(k)
		}
	}
	return wrong
}

// breaks looks for a document of a ready member with which something is wrong that its
// process had the time to know. One for which the machine left it no time does not end the
// search.
func (d duty) breaks(e law.Entry, running fact.Signal, bound time.Duration) law.Entry {
	found, from := e, d.began.Latest
	if d.never == nil {
		from += int64(bound)
	}
	var right *listing // the same document is right again
	for _, k := range d.between(from, d.until.Earliest) {
		if k.told() == nil || k.listing == right {
			continue
		}
		wrong, due := "", false
		if d.never != nil {
			wrong = d.never(k)
		}
		if wrong == "" {
			wrong, due = d.wrong(k), true
		}
		p := k.by()
		switch {
		case wrong == "":
			right = k.listing
		case p == nil, d.group != "" && d.facts.changing(d.group, k.from, k.at):
		default:
			since := max(d.began.Latest, p.Started.Latest)
			excess := time.Duration(running.Lasts(since, k.from, fact.Yes)) - bound
			if due && excess <= 0 {
				continue
			}
			is := e.Broken("%s", d.says(time.Duration(k.from-d.began.Latest), wrong)).Shown(append([]int64{k.seq}, d.shown...)...)
			if due {
				is = law.UnlessStarved(d.facts.History, is, excess, running, since, k.from)
			}
			if is.Ending == law.Broken {
				return is
			}
			found = is
		}
	}
	return found
}

// spell is an outage of the server of a group-version while an APIService wants that, as a
// member has to show it.
type spell struct {
	groupVersion
	*member
	*outage
	change *change
}

func (f *Facts) spells(fits func(*outage, *change) bool) (out []spell) {
	for _, o := range f.outages {
		for _, d := range f.definitionsOf(o.group) {
			for _, c := range d.changes {
				for _, version := range c.versions {
					for _, m := range f.all() {
						if d.remote && c.known && fits(o, c) {
							out = append(out, spell{groupVersion{o.group, version}, m, o, c})
						}
					}
				}
			}
		}
	}
	return out
}

// duty is the one that begins with an event of the spell.
func (s spell) duty(began fact.Moment, until int64, why string) duty {
	return duty{
		member: s.member, group: s.groupVersion.group, about: fmt.Sprintf("%s since event %d", s.groupVersion, s.outage.seq),
		began: began, shown: []int64{s.outage.seq, s.change.seq}, until: fact.Exactly(until, 0), why: why,
	}
}
