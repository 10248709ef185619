package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// component is the process of one component of a member.
type component struct {
	track
	alive, paused, ready bool
	instance             int
	release              string
}

func (c *collector) component(member, name string) *component {
	if c.components[member] == nil {
		c.components[member] = map[string]*component{}
	}
	if c.components[member][name] == nil {
		c.components[member][name] = &component{}
	}
	return c.components[member][name]
}

func (c *collector) takeProcess(ev *history.Event) {
	p := ev.Process
	at := c.component(ev.Member, p.Component)
	switch p.Change {
	case history.ProcessStarted:
		at.alive, at.paused, at.ready = true, false, false
		at.instance, at.release = p.Instance, p.Release
	case history.ProcessExited:
		if p.Instance < at.instance {
			return // the next one runs already
		}
		at.alive, at.ready = false, false
		how := p.Exit
		if how == "" {
			how = "it ended"
		}
		if !p.Expected {
			how += ", which the harness had not asked for"
		}
		if n := len(p.Log); n > 0 {
			how += "; its log ends with: " + strings.Join(p.Log[max(0, n-shownLog):], " | ")
		}
		at.set(c.now, ev.Seq, styleDead, 0, c.text("no process (%s)", how))
		return
	case history.ProcessPaused:
		at.paused = true
	case history.ProcessResumed:
		at.paused = false
	}
	c.show(ev, p.Component, at)
}

// takeReady tells an API server that runs from one that serves.
func (c *collector) takeReady(ev *history.Event) {
	at := c.component(ev.Member, history.ComponentAPIServer)
	at.ready = ev.Ready.Code == 200
	c.show(ev, history.ComponentAPIServer, at)
}

func (c *collector) show(ev *history.Event, name string, at *component) {
	color := c.releases.number(at.release)
	switch {
	case !at.alive:
	case at.paused:
		at.set(c.now, ev.Seq, stylePaused, color, c.text("%s, paused", at.release))
	case name == history.ComponentAPIServer && !at.ready:
		at.set(c.now, ev.Seq, styleUnready, color, c.text("%s, not ready", at.release))
	default:
		at.set(c.now, ev.Seq, styleUp, color, c.text("%s", at.release))
	}
}

// componentNames in words, in the order of the page.
var componentNames = []struct{ name, words string }{
	{history.ComponentAPIServer, "API server"},
	{history.ComponentAggregatedServer, "aggregated server"},
	{history.ComponentEtcd, "etcd"},
	{history.ComponentControllerManager, "controllers"},
	{history.ComponentScheduler, "scheduler"},
}

func inWords(component string) string {
	for _, n := range componentNames {
		if n.name == component {
			return n.words
		}
	}
	return component
}

// memberGroups has a group for each member: its components, its discovery and
// what came of the requests to it.
func (c *collector) memberGroups() []group {
	var members []string
	for _, m := range c.header.Members {
		members = append(members, m.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.components)) {
		if !slices.Contains(members, name) && len(c.components[name]) > 0 {
			members = append(members, name)
		}
	}
	var out []group
	for _, member := range members {
		g := group{Name: member}
		names := slices.SortedFunc(maps.Keys(c.components[member]), func(a, b string) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
		})
		for _, name := range names {
			at := c.components[member][name]
			at.end(c.now)
			if len(at.spans) > 0 {
				g.Lanes = append(g.Lanes, lane{Name: inWords(name), Spans: at.spans})
			}
		}
		if tags := c.seenTags[member]; tags != nil {
			tags.end(c.now)
			g.Lanes = append(g.Lanes, lane{Name: "discovery tag", Spans: tags.spans})
		}
		if compared := c.compared[member]; compared != nil {
			g.Lanes = append(g.Lanes, compared.lanes(c.now)...)
		}
		if r := c.requests[member]; r != nil && r.seen() {
			g.Lanes = append(g.Lanes, lane{Name: "requests", Marks: r.marks(), Density: r.density(c.now)})
		}
		if len(g.Lanes) > 0 {
			out = append(out, g)
		}
	}
	return out
}

func rank(component string) int {
	for i, n := range componentNames {
		if n.name == component {
			return i
		}
	}
	return len(componentNames)
}

// memberOf is the member that a holder of a Lease or a server's identity belongs
// to, and its number; -1 where it is none.
func (c *collector) memberOf(holder string) (name string, number int) {
	if i := c.header.MemberOf(holder); i >= 0 {
		return c.header.Members[i].Name, i
	}
	for i, m := range c.header.Members {
		if holder == m.ServerID {
			return m.Name, i
		}
	}
	return "", -1
}

// takeDocument notes the tag of a member's list of groups. What its other
// documents are tagged with follows from the same changes.
func (c *collector) takeDocument(ev *history.Event) {
	d := ev.DiscoveryDocument
	if d.Path != "/apis" || d.ETag == "" || !strings.Contains(d.ContentType+d.Accept, "as=APIGroupDiscoveryList") {
		return
	}
	if c.seenTags[ev.Member] == nil {
		c.seenTags[ev.Member] = &track{}
	}
	tag := strings.Trim(d.ETag, `"`)
	number := c.tags.number(tag)
	if len(tag) > shownTag {
		tag = tag[:shownTag] + "…"
	}
	c.seenTags[ev.Member].set(c.now, ev.Seq, styleTag, number, c.text("tag %d (%s)", number+1, tag))
}

// shownTag is how much of a tag is shown; the rest is a digest's.
const shownTag = 12

// shownLog is how many lines of the log of a process that ended by itself are shown.
const shownLog = 3

// fault is one injection of a fault.
type fault struct {
	id, member, name string
	from, to         int64
	healed           bool
	seq              int64
	witnesses        []mark
}

func (c *collector) takeFault(ev *history.Event) {
	f := ev.Fault
	if f.Phase == history.PhaseInject {
		name := fmt.Sprintf("%s: %s %s", f.ID, f.Type, f.Action)
		if ev.Member != "" {
			name += " on " + strings.TrimSpace(ev.Member+" "+f.Component)
		}
		c.faults = append(c.faults, &fault{id: f.ID, member: ev.Member, name: name, from: c.now, seq: ev.Seq})
		return
	}
	for _, seen := range slices.Backward(c.faults) {
		if seen.id != f.ID || seen.member != ev.Member {
			continue
		}
		switch f.Phase {
		case history.PhaseWitness:
			seen.witnesses = append(seen.witnesses, mark{c.now, markWitness, ev.Seq, 1})
		case history.PhaseHeal:
			seen.healed, seen.to = true, c.now
		case history.PhaseInject, history.PhaseBegin, history.PhaseEnd, history.PhaseFailed, history.PhaseSkipped:
		}
		return
	}
}

// faultLanes puts faults side by side that overlap in time.
func (c *collector) faultLanes() []lane {
	var lanes []lane
	var free []int64
	for _, f := range c.faults {
		if !f.healed {
			f.to = c.now
		}
		c.picture.Bands = append(c.picture.Bands, band{f.from, f.to, f.name})
		text := f.name
		if len(f.witnesses) == 0 {
			text += ", and there is no proof that it took effect"
		}
		// Proof that all is back may come after the healing.
		end := f.to
		for _, w := range f.witnesses {
			end = max(end, w.At)
		}
		at := slices.IndexFunc(free, func(t int64) bool { return t <= f.from })
		if at < 0 {
			at = len(lanes)
			lanes, free = append(lanes, lane{Name: "faults"}), append(free, 0)
		}
		free[at] = end + 1
		lanes[at].Spans = append(lanes[at].Spans, span{f.from, f.to, styleFault, 0, c.text("%s", text), f.seq})
		lanes[at].Marks = append(lanes[at].Marks, f.witnesses...)
	}
	return lanes
}

func (c *collector) takeStep(ev *history.Event) {
	s := ev.Step
	switch s.Phase {
	case history.PhaseBegin:
		c.steps.set(c.now, ev.Seq, styleStep, 0, c.text("%s", stepName(ev)))
	case history.PhaseFailed:
		if !c.steps.open {
			c.steps.set(c.now, ev.Seq, styleStepFailed, 0, 0)
		}
		failed := c.steps.last()
		failed.Style, failed.Text = styleStepFailed, c.text("%s failed: %s", stepName(ev), s.Message)
		c.steps.end(c.now)
	case history.PhaseSkipped:
		c.steps.set(c.now, ev.Seq, styleStep, 0, c.text("%s left out: %s", stepName(ev), s.Message))
		c.steps.end(c.now)
	default:
		if step := c.steps.last(); step != nil && c.holds.open && c.held[step.Seq] != nil {
			return // the hold goes on until the next step
		}
		c.steps.end(c.now)
	}
}

func stepName(ev *history.Event) string {
	name := fmt.Sprintf("%d %s", ev.Step.Index, ev.Step.Action)
	if ev.Member != "" {
		name += " " + ev.Member
	}
	if ev.Step.Release != "" {
		name += " to " + ev.Step.Release
	}
	return name
}

// takeHold shows a hold, and lets the step that it is of last as long: the step ends for the
// runner when the hold has begun, which goes on until the next step.
func (c *collector) takeHold(ev *history.Event) {
	h := ev.Hold
	if h.Phase != history.PhaseBegin {
		if step := c.steps.last(); step != nil && c.holds.open && c.held[step.Seq] != nil {
			c.held[step.Seq].to = c.now
			c.steps.end(c.now)
		}
		c.holds.end(c.now)
		return
	}
	var releases []string
	for _, member := range slices.Sorted(maps.Keys(h.Releases)) {
		releases = append(releases, member+" "+h.Releases[member])
	}
	c.holds.set(c.now, ev.Seq, styleHold, 0, c.text("%s: %s", h.Name, strings.Join(releases, ", ")))
	if step := c.steps.last(); step != nil && c.steps.open {
		c.held[step.Seq] = &held{from: c.now}
		step.Text = c.text("%s %s", c.picture.Texts[step.Text], h.Name)
	}
}

// held is the time of a hold; to is 0 while it goes on.
type held struct{ from, to int64 }
