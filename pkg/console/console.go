// Package console shows a person what a run is doing: one plain line for each
// thing that happens and, on a terminal, a last line that always tells the time
// and the verdicts so far and, as far as the width allows, the step, every
// member's release and state, and the leader.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package console

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Console writes what events mean. It is fed from one goroutine.
type Console struct {
	out    io.Writer
	header history.Header
	// width is how many characters a line of the terminal has now; nil where out is none.
	width func() int

	mu    sync.Mutex
	steps int
	// step is the step that is played, in words, and stepNumber without them.
	step, stepNumber string

	members map[string]*memberState
	leaders map[string]string
	// told has the requirements that were told to be broken, healed the faults.
	told, healed map[string]bool
	status       string
	now          time.Duration
}

type memberState struct {
	release string
	state   string
}

// New makes a console for a run with this many steps.
func New(out io.Writer, header history.Header, steps int) *Console {
	if Width(out) == 0 || os.Getenv("TERM") == "dumb" {
		return newConsole(out, header, steps, nil)
	}
	return newConsole(out, header, steps, func() int { return Width(out) })
}

func newConsole(out io.Writer, header history.Header, steps int, width func() int) *Console {
	c := &Console{
		out: out, header: header, width: width, steps: steps,
		members: map[string]*memberState{}, leaders: map[string]string{}, told: map[string]bool{}, healed: map[string]bool{},
	}
	for _, m := range header.Members {
		c.members[m.Name] = &memberState{release: m.Release, state: stateOff}
	}
	return c
}

// Say writes a line of its own.
func (c *Console) Say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line(fmt.Sprintf(format, args...))
}

// Show tells of an event, and how the verdicts stand after it.
func (c *Console) Show(ev *history.Event, progress []check.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = time.Duration(ev.At)
	switch {
	case ev.Step != nil:
		c.showStep(ev)
	case ev.NotReached != nil:
		c.line(ev.NotReached.Sentence(ev.Member))
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseBegin:
		c.line(fmt.Sprintf("hold %q with %s", ev.Hold.Name, releases(ev.Hold.Releases)))
	case ev.Process != nil:
		c.showProcess(ev)
	case ev.Ready != nil:
		c.showReady(ev)
	case ev.Fault != nil:
		c.showFault(ev)
	case ev.EtcdHealth != nil:
		c.line(ev.EtcdHealth.Summary())
	case ev.RecorderMissed != nil:
		c.line(missed(c.header, ev.RecorderMissed))
	case ev.Stored != nil && ev.Stored.Lease != nil && !ev.Stored.Lease.Identity:
		c.showLease(ev.Stored)
	}
	for _, p := range progress {
		if p.Verdict == check.Fail && !c.told[string(p.ID)] {
			c.told[string(p.ID)] = true
			if p.Unlisted {
				c.line(fmt.Sprintf("%s is broken (unlisted)", p.ID))
			} else {
				c.line(fmt.Sprintf("%s is broken", p.ID))
			}
		}
	}
	c.redraw(progress)
}

func (c *Console) showStep(ev *history.Event) {
	s := ev.Step
	what := s.Action
	if ev.Member != "" {
		what += " " + ev.Member
	}
	if s.Release != "" {
		what += " to " + s.Release
	}
	switch s.Phase {
	case history.PhaseBegin:
		c.stepNumber = fmt.Sprintf("step %d/%d", s.Index, c.steps)
		c.step = c.stepNumber + " " + what
		c.line(c.step)
	case history.PhaseFailed:
		c.line(fmt.Sprintf("step %d/%d %s failed: %s", s.Index, c.steps, what, s.Message))
	case history.PhaseSkipped:
		c.line(fmt.Sprintf("step %d/%d %s is left out: %s", s.Index, c.steps, what, s.Message))
	case history.PhaseEnd, history.PhaseInject, history.PhaseWitness, history.PhaseHeal:
	}
}

func (c *Console) showProcess(ev *history.Event) {
	p := ev.Process
	if m := c.members[ev.Member]; m != nil && p.Component == history.ComponentAPIServer {
		switch p.Change {
		case history.ProcessStarted:
			m.release, m.state = p.Release, stateStarting
		case history.ProcessExited:
			m.state = stateDown
		case history.ProcessPaused:
			m.state = statePaused
		case history.ProcessStopping:
			m.state = stateStopping
		case history.ProcessResumed:
			m.state = stateResumed
		}
	}
	if p.Change == history.ProcessExited && !p.Expected {
		c.line(fmt.Sprintf("%s of %s ended by itself: %s", p.Component, ev.Member, p.Exit))
	}
}

func (c *Console) showReady(ev *history.Event) {
	m := c.members[ev.Member]
	if m == nil {
		return
	}
	switch {
	case ev.Ready.Code == 200 && m.state != stateReady:
		m.state = stateReady
		c.line(fmt.Sprintf("%s is ready at release %s", ev.Member, m.release))
	case ev.Ready.Code != 200 && m.state == stateReady:
		m.state = stateUnready
	}
}

func (c *Console) showFault(ev *history.Event) {
	f := ev.Fault
	what := fmt.Sprintf("fault %s (%s %s on %s)", f.ID, f.Type, f.Action, ev.Member)
	switch f.Phase {
	case history.PhaseInject:
		c.line(what + " injected")
	case history.PhaseWitness:
		if c.healed[what] {
			c.line(what + " is over: " + plain(f.Proof))
		} else {
			c.line(what + " bit: " + plain(f.Proof))
		}
	case history.PhaseHeal:
		c.healed[what] = true
		c.line(what + " healed")
	case history.PhaseBegin, history.PhaseEnd, history.PhaseFailed, history.PhaseSkipped:
	}
}

// showLease tells of changes of leader of any component that elects one.
func (c *Console) showLease(s *history.Stored) {
	// A node's own Lease is its sign of life, and elects no leader.
	if strings.HasPrefix(s.Name, corev1.NamespaceNodeLease+"/") || c.leaders[s.Name] == s.Lease.Holder {
		return
	}
	c.leaders[s.Name] = s.Lease.Holder
	if s.Lease.Holder != "" {
		c.line(fmt.Sprintf("%s now leads %s", s.Lease.Holder, s.Name))
	}
}

func releases(m map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, name+" "+m[name])
	}
	return strings.Join(out, ", ")
}

// line writes one line above the status line, folded to the width of a terminal.
func (c *Console) line(text string) {
	line := fmt.Sprintf("%7.1fs  %s\n", c.now.Seconds(), text)
	if c.width != nil {
		line = Fit(line, c.width())
	}
	if c.status != "" {
		line = clearLine + line + c.status
	}
	fmt.Fprint(c.out, line)
}

// clearLine takes away what the last line of a terminal shows.
const clearLine = "\r\x1b[K"

// redraw writes the status line anew, on a terminal only.
func (c *Console) redraw(progress []check.Progress) {
	if c.width == nil {
		return
	}
	status := c.statusLine(progress, c.width())
	if status == c.status {
		return
	}
	c.status = status
	fmt.Fprint(c.out, clearLine+status)
}

// Close takes the status line away.
func (c *Console) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != "" {
		fmt.Fprint(c.out, clearLine)
		c.status = ""
	}
}
