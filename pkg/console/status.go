package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// separator parts the parts of the status line.
const separator = " | "

// The states of an API server in the status line.
const (
	stateOff      = "off"
	stateStarting = "starting"
	stateReady    = "ok"
	stateUnready  = "not ready"
	stateDown     = "down"
	statePaused   = "paused"
	stateStopping = "stopping"
	stateResumed  = "resumed"
)

// forms are one part of the status line from the longest form to the shortest. An empty
// form leaves the part out.
type forms []string

// shortening is the order in which parts of the status line give way until the line fits,
// each to its next form. Time and verdicts keep theirs.
var shortening = []int{partStep, partMembers, partMembers, partLeaders, partMembers, partStep}

// The parts of the status line in their order.
const (
	partTime = iota
	partVerdicts
	partStep
	partMembers
	partLeaders
	parts
)

// statusLine is the status line in fewer than width characters, since writing into the last
// column makes some terminals wrap; 0 is a line of any length.
func (c *Console) statusLine(progress []check.Progress, width int) string {
	all := [parts]forms{
		partTime:     {fmt.Sprintf("%02d:%02d", int(c.now.Minutes()), int(c.now.Seconds())%60)},
		partVerdicts: {verdictCounts(progress)},
		partStep:     {c.step, c.stepNumber, ""},
		partMembers:  c.memberForms(),
		partLeaders:  {c.leaderWords(), ""},
	}
	line := join(all)
	for _, part := range shortening {
		if width <= 0 || len([]rune(line)) < width {
			return line
		}
		all[part] = all[part][1:]
		line = join(all)
	}
	if runes := []rune(line); width > 0 && len(runes) >= width {
		return string(runes[:width-1])
	}
	return line
}

func join(all [parts]forms) string {
	var shown []string
	for _, part := range all {
		if part[0] != "" {
			shown = append(shown, part[0])
		}
	}
	return strings.Join(shown, separator)
}

// verdictCounts leaves out what there is none of, except for passes.
func verdictCounts(progress []check.Progress) string {
	counts := map[check.Verdict]int{}
	for _, p := range progress {
		counts[p.Verdict]++
	}
	words := fmt.Sprintf("%d pass", counts[check.Pass])
	if n := counts[check.Fail]; n > 0 {
		words += fmt.Sprintf(" %d fail", n)
	}
	if n := counts[check.Inconclusive]; n > 0 {
		words += fmt.Sprintf(" %d open", n)
	}
	return words
}

// memberForms are each member with release and state; the members of the same release and
// state together; the states alone; nothing.
func (c *Console) memberForms() forms {
	names := slices.Sorted(maps.Keys(c.members))
	var each, together, states []string
	alike := map[memberState][]string{}
	ready := 0
	for _, name := range names {
		m := *c.members[name]
		each = append(each, fmt.Sprintf("%s %s %s", name, m.release, m.state))
		alike[m] = append(alike[m], name)
		if m.state == stateReady {
			ready++
		} else {
			states = append(states, name+" "+m.state)
		}
	}
	for _, name := range names {
		if m := *c.members[name]; alike[m][0] == name {
			together = append(together, fmt.Sprintf("%s %s %s", strings.Join(alike[m], "+"), m.release, m.state))
		}
	}
	if ready > 0 {
		states = append([]string{fmt.Sprintf("%d %s", ready, stateReady)}, states...)
	}
	return forms{strings.Join(each, ", "), strings.Join(together, ", "), strings.Join(states, ", "), ""}
}

// leaderWords name each leader once, whichever Leases it holds.
func (c *Console) leaderWords() string {
	var leaders []string
	for _, lease := range slices.Sorted(maps.Keys(c.leaders)) {
		if holder := c.leaders[lease]; holder != "" && !slices.Contains(leaders, shortHolder(holder)) {
			leaders = append(leaders, shortHolder(holder))
		}
	}
	if len(leaders) == 0 {
		return ""
	}
	return "leader " + strings.Join(leaders, ", ")
}

// shortHolder drops what follows the member's name in a holder's identity.
func shortHolder(holder string) string {
	name, _, _ := strings.Cut(holder, "_")
	return name
}
