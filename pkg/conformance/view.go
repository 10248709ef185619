package conformance

import (
	"cmp"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// View is told how a campaign goes, from several goroutines.
type View interface {
	// Begin is called before the first run, and End after the last.
	Begin(Progress)
	End()
	// Started is called when a try of a line begins.
	Started(line Line, try int)
	// Ended is called when a try has ended; again says that another follows.
	Ended(line Line, e Ended, told Told, again bool)
	// GivenUp is called when a run was interrupted and will be played again.
	GivenUp(line Line)
	// Paced is called when another number of runs is played at a time from now on.
	Paced(parallel int)
	// Say tells of anything else.
	Say(text string)
}

// Told is what came of a try, in words.
type Told struct {
	// Verdict is that of the run, or refused, or failed.
	Verdict string
	// Why it is not a pass.
	Why string
}

// told says what came of a try. The outcome is nil where there is no bundle that counts.
func (o *outcome) told(e Ended) Told {
	if o == nil {
		if e.Refused != "" {
			return Told{"refused", e.Refused}
		}
		return Told{"failed", e.Failed}
	}
	out := Told{Verdict: string(o.verdict)}
	for _, id := range o.order {
		res := o.results[id]
		if text := fmt.Sprintf("%s %s: %s", id, res.verdict, oneLine(res.reason)); res.verdict == check.Fail {
			return Told{out.Verdict, text}
		} else if unsettled(res.verdict) {
			out.Why = cmp.Or(out.Why, text)
		}
	}
	return out
}
