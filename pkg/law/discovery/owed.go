package discovery

import (
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// owed is something that a member has to show within a bound. Its clock runs while the
// member is ready, whatever it answers, and stands while it is not.
type owed struct {
	law.Entry
	member *member
	bound  time.Duration
	// fits is whether a look shows it; only looks from Began on are asked, until none is
	// left or one fits.
	fits func(*look) bool
	// over is the moment from which on it is not owed any more, and Forever without one; why
	// says what happened then.
	over fact.Moment
	why  string
	// breach says in a sentence what was not shown for how long, by what was answered last.
	breach func(took time.Duration, last string) string
	// tags of one that was met, by the look that shows it. Optional.
	tags func(*look) []string
}

// never is the moment of what does not happen.
var never = fact.Exactly(fact.Forever, 0)

// end ends the obligation, and gives the look that shows it; nil if none does.
func (o *owed) end(now fact.Moment) (law.Entry, *look) {
	shown, done, last := o.seek(now)
	running := o.member.serving()
	e := o.Entry
	e.Least = time.Duration(running.Lasts(o.Began.Latest, done.Earliest, fact.Yes))
	e.Most = time.Duration(running.Lasts(o.Began.Earliest, done.Latest, fact.Unknown))
	switch {
	case e.Least > o.bound:
		e.Ending, e.Why = law.Late, o.breach(e.Least.Round(100*time.Millisecond), last)
	case shown == nil && o.over.Latest <= now.Latest:
		e.Ending, e.Why = law.Excused, o.why
	case shown == nil && running.At(now.Latest) == fact.No:
		e.Ending, e.Why = law.Excused, "the member was not ready at the end of the history"
	case shown == nil && e.Most <= o.bound:
		e.Ending, e.Why = law.Open, fmt.Sprintf("the history ended %s after event %d, and the bound is %s", e.Most.Round(time.Millisecond), e.Began.Seq, o.bound)
	case shown == nil:
		e.Ending, e.Why = law.Unclear, "no document was recorded that shows whether it came about"
	case e.Most > o.bound:
		e.Ending, e.Why = law.Unclear, fmt.Sprintf("it took between %s and %s, and the bound is %s", e.Least.Round(time.Millisecond), e.Most.Round(time.Millisecond), o.bound)
	default:
		e.Ending = law.Met
		if o.tags != nil {
			e.Tags = o.tags(shown)
		}
	}
	return e, shown
}

// seek finds the look that shows it, the moment from its last absence to that look or to the
// end of what is known, and what was answered last in its place.
func (o *owed) seek(now fact.Moment) (shown *look, done fact.Moment, last string) {
	began := o.Began.Latest
	missing, silent := began, false // up to when it had certainly not been shown
	done = now
	for _, k := range o.member.from(began) {
		if k.from >= o.over.Latest || shown != nil {
			break
		}
		if !o.fits(k) {
			missing, last, silent = max(missing, k.until), k.says(), k.code == 0
			o.Evidence = law.Evidence(o.Began.Seq, k.lastSeq)
			continue
		}
		shown = k
		done = fact.Moment{Latest: max(k.at, began), Seq: k.seq}
		if silent {
			// A recorder leaves out that a member goes on giving no answer: until this
			// request was sent, there was none.
			missing = max(missing, k.from)
		}
	}
	if done.Earliest = min(missing, done.Latest); shown == nil && silent {
		done.Earliest = now.Latest
	}
	if o.over.Latest < done.Latest {
		done = fact.Moment{Earliest: min(done.Earliest, o.over.Earliest), Latest: o.over.Latest, Seq: o.over.Seq}
	}
	return shown, done, last
}

// from are the looks at the document of all groups whose last answer came at a time or
// later.
func (m *member) from(at int64) []*look {
	all := m.polls()
	return all[sort.Search(len(all), func(i int) bool { return all[i].last >= at }):]
}

// between are the looks of which an answer was asked for from a time on, and the first one
// came by another time.
func (m *member) between(from, to int64) []*look {
	var out []*look
	for _, k := range m.from(from) {
		if k.at > to {
			break
		}
		if k.until >= from {
			out = append(out, k)
		}
	}
	return out
}

// goesBack is the first document between two times that does not fit any more, although its
// process had the time to know; nil if there is none.
func (m *member) goesBack(from, to int64, bound time.Duration, fits func(*look) bool) *look {
	for _, k := range m.from(from + int64(bound)) {
		switch {
		case k.from > to:
			return nil
		case k.told() == nil || !k.ready() || fits(k):
			continue
		case m.serving().Lasts(max(from, k.process().Started.Latest), k.until, fact.Yes) > int64(bound):
			return k
		}
	}
	return nil
}

// says is what came in the place of a document, in words.
func (k *look) says() string {
	switch k.code {
	case http.StatusOK:
		return ""
	case 0:
		return "it gave no answer"
	}
	return "it answered " + strconv.Itoa(k.code)
}

func quoted(s string) string { return strconv.Quote(s) }

// lately adds what was answered last to a sentence.
func lately(last string) string {
	if last == "" {
		return ""
	}
	return ": " + last
}
