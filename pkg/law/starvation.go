package law

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// UnlessStarved is an obligation that was late or broken because something took too long, by
// as much as excess. It is unclear where the machine made processes of the run wait for at
// least as long as that, between two instants and while a signal was Yes. No more than the
// measured waiting is taken off, and nothing comes to be met by it. Do not use it for what must
// never be, however slow the machine is.
func UnlessStarved(h *fact.History, e Entry, excess time.Duration, while fact.Signal, from, to int64) Entry {
	if e.Ending != Late && e.Ending != Broken {
		return e
	}
	starved := h.Starved(while, from, to)
	if starved == 0 || starved < excess {
		return e
	}
	return e.Starved(starved)
}

// Starved ends an obligation as unclear that was late or broken by a time for which the machine
// was starved.
func (e Entry) Starved(starved time.Duration) Entry {
	e.Ending, e.SelfEvident, e.Through = Unclear, false, 0
	e.Why = fmt.Sprintf("%s; %s %s of that time, which may be why", e.Why, starvedWords, starved.Round(time.Millisecond))
	return e
}

// starvedWords are in the reason of what is unclear because the machine was starved.
const starvedWords = "the machine was starved for"

// BlamesStarvation is whether a reason of a verdict says that the machine was starved.
func BlamesStarvation(reason string) bool { return strings.Contains(reason, starvedWords) }
