// Package console shows a person what a run is doing: one plain line for each
// thing that happens and, on a terminal, a last line that always tells the
// step, every member's release and state, the leader, the verdicts so far and
// the time.
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

	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Console writes what events mean. It is fed from one goroutine.
type Console struct {
	out      io.Writer
	terminal bool
	width    int

	mu      sync.Mutex
	steps   int
	step    string
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
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return newConsole(out, header, steps, false, 0)
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0 // the status line is not cut then
	}
	return newConsole(out, header, steps, true, width)
}

func newConsole(out io.Writer, header history.Header, steps int, terminal bool, width int) *Console {
	c := &Console{
		out: out, terminal: terminal, width: width, steps: steps,
		members: map[string]*memberState{}, leaders: map[string]string{}, told: map[string]bool{}, healed: map[string]bool{},
	}
	for _, m := range header.Members {
		c.members[m.Name] = &memberState{release: m.Release, state: "off"}
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
		c.line(fmt.Sprintf("the %s recorder may have missed something: %s", ev.RecorderMissed.Source, ev.RecorderMissed.Message))
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
		c.step = fmt.Sprintf("step %d/%d %s", s.Index, c.steps, what)
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
			m.release, m.state = p.Release, "starting"
		case history.ProcessExited:
			m.state = "down"
		case history.ProcessPaused:
			m.state = "paused"
		case history.ProcessStopping:
			m.state = "stopping"
		case history.ProcessResumed:
			m.state = "resumed"
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
	case ev.Ready.Code == 200 && m.state != "ready":
		m.state = "ready"
		c.line(fmt.Sprintf("%s is ready at release %s", ev.Member, m.release))
	case ev.Ready.Code != 200 && m.state == "ready":
		m.state = "unready"
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
			c.line(what + " is over: " + f.Proof)
		} else {
			c.line(what + " bit: " + f.Proof)
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

// line writes one line above the status line.
func (c *Console) line(text string) {
	if c.terminal && c.status != "" {
		fmt.Fprint(c.out, "\r\x1b[K")
	}
	fmt.Fprintf(c.out, "%7.1fs  %s\n", c.now.Seconds(), text)
	if c.terminal && c.status != "" {
		fmt.Fprint(c.out, c.status)
	}
}

// redraw writes the status line anew, on a terminal only.
func (c *Console) redraw(progress []check.Progress) {
	if !c.terminal {
		return
	}
	var parts []string
	parts = append(parts, fmt.Sprintf("%02d:%02d", int(c.now.Minutes()), int(c.now.Seconds())%60))
	if c.step != "" {
		parts = append(parts, c.step)
	}
	for _, name := range slices.Sorted(maps.Keys(c.members)) {
		parts = append(parts, fmt.Sprintf("%s %s %s", name, c.members[name].release, c.members[name].state))
	}
	for _, name := range slices.Sorted(maps.Keys(c.leaders)) {
		if c.leaders[name] != "" {
			parts = append(parts, "leader "+shortHolder(c.leaders[name]))
		}
	}
	counts := map[check.Verdict]int{}
	for _, p := range progress {
		counts[p.Verdict]++
	}
	parts = append(parts, fmt.Sprintf("%d pass %d fail %d open", counts[check.Pass], counts[check.Fail], counts[check.Inconclusive]))
	status := strings.Join(parts, " | ")
	if c.width > 0 && len([]rune(status)) >= c.width {
		status = string([]rune(status)[:c.width-1])
	}
	if status == c.status {
		return
	}
	c.status = status
	fmt.Fprint(c.out, "\r\x1b[K"+status)
}

// shortHolder drops what follows the member's name in a holder's identity.
func shortHolder(holder string) string {
	name, _, _ := strings.Cut(holder, "_")
	return name
}

// Close takes the status line away.
func (c *Console) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal && c.status != "" {
		fmt.Fprint(c.out, "\r\x1b[K")
		c.status = ""
	}
}
