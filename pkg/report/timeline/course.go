package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// course is where a run is: what a reader of a finding asks first.
type course struct {
	step   string
	faults []*history.Fault
	on     []string
	states map[string]string
}

// moment is where the run was when an event came.
type moment struct {
	at int64
	// member that the event is of, if it is of one.
	member string
	// words say what was going on.
	words string
}

func (c *course) take(ev *history.Event) {
	switch {
	case ev.Step != nil && ev.Step.Phase == history.PhaseBegin:
		c.step = "in step " + stepName(ev)
	case ev.Step != nil:
		c.step = "after step " + stepName(ev)
	case ev.Fault != nil && ev.Fault.Phase == history.PhaseInject:
		c.faults, c.on = append(c.faults, ev.Fault), append(c.on, ev.Member)
	case ev.Fault != nil && ev.Fault.Phase == history.PhaseHeal:
		for i, f := range slices.Backward(c.faults) {
			if f.ID == ev.Fault.ID && c.on[i] == ev.Member {
				c.faults, c.on = slices.Delete(c.faults, i, i+1), slices.Delete(c.on, i, i+1)
				break
			}
		}
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer:
		if c.states == nil {
			c.states = map[string]string{}
		}
		switch ev.Process.Change {
		case history.ProcessExited:
			c.states[ev.Member] = "had no API server"
		case history.ProcessPaused:
			c.states[ev.Member] = "was paused"
		case history.ProcessStopping:
			c.states[ev.Member] = "was stopping at " + ev.Process.Release
		default:
			c.states[ev.Member] = "ran " + ev.Process.Release
		}
	}
}

func (c *course) moment(ev *history.Event) *moment {
	words := []string{"before the first step"}
	if c.step != "" {
		words[0] = c.step
	}
	for i, f := range c.faults {
		words = append(words, strings.TrimSpace(fmt.Sprintf("while the fault %s was active on %s", f.ID, c.on[i])))
	}
	var states []string
	for _, member := range slices.Sorted(maps.Keys(c.states)) {
		states = append(states, member+" "+c.states[member])
	}
	if len(states) > 0 {
		words = append(words, strings.Join(states, ", "))
	}
	return &moment{at: ev.At / 1000, member: ev.Member, words: strings.Join(words, "; ")}
}

// when gives a time of the run for people.
func when(micros int64) string {
	return fmt.Sprintf("%.2f s", float64(micros)/1e6)
}

// clock gives the wall clock at a time of the run, as logs have it.
func (c *collector) clock(micros int64) string {
	return c.header.Started.Add(time.Duration(micros) * time.Microsecond).UTC().Format("15:04:05")
}
