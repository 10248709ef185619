package story

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Midway gives the history that a run would have recorded of the same control plane if the run
// had begun right before the event of an index, with a control plane that was there before:
// what was so by then is told as given, one thing after the other, and the rest as it was. ok is false where no run can
// begin: the harness itself acted then, or there are objects of its own.
func Midway(header history.Header, events []history.Event, at int) (h history.Header, out []history.Event, ok bool) {
	if at <= 0 || at >= len(events) {
		return h, nil, false
	}
	m := &midway{began: events[at].At, stored: map[string]history.Event{}, processes: map[place]*history.Event{},
		ready: map[string]history.Event{}, hosted: map[string]history.Event{}, watches: map[place]*shown{}, others: map[place]history.Event{},
		acting: map[string]bool{}, before: map[place]int{}}
	for i := range events[:at] {
		m.see(&events[i])
	}
	if len(m.acting) > 0 || straddles(events[at:], m.began) {
		return h, nil, false
	}
	m.begin(at%2 == 1)
	h = header
	h.Started = header.Started.Add(time.Duration(m.began - m.told))
	h.Lacks = append(slices.Clone(header.Lacks), history.Lack{What: history.LackEarlier, Reason: "the control plane was there before"})
	for i := range events[at:] {
		m.follow(events[at+i])
	}
	for i := range m.out {
		m.out[i].Seq = int64(i + 1)
	}
	return h, m.out, true
}

// place is a member, and something of it.
type place struct{ member, what string }

// shown is an open watch of a recorder, and the last that it was shown of each object.
type shown struct {
	opened  history.Event
	objects map[string]history.Event
}

type midway struct {
	// began is when the run begins, by the times of the whole story.
	began     int64
	revision  int64
	stored    map[string]history.Event
	processes map[place]*history.Event
	ready     map[string]history.Event
	hosted    map[string]history.Event
	watches   map[place]*shown
	others    map[place]history.Event
	// acting is what the harness does: its steps, holds and faults, and what it paused.
	acting map[string]bool
	// before is how many processes of a component had ended.
	before map[place]int
	// told is how long it has taken to tell what is so as the run begins.
	told int64
	out  []history.Event
}

// telling is how long it takes to tell one thing as a run begins. So the recorders see at
// different times what was so at one.
const telling = int64(time.Millisecond)

// straddles is whether a request of the harness was sent before a time and answered after it.
func straddles(events []history.Event, began int64) bool {
	return slices.ContainsFunc(events, func(ev history.Event) bool {
		return ev.From > 0 && ev.From < began && (ev.Request != nil || ev.Read != nil || ev.Visibility != nil)
	})
}

func (m *midway) see(ev *history.Event) {
	switch {
	case ev.Request != nil && ev.Request.Defines != nil:
		d := ev.Request.Defines
		m.act("define "+d.Group+" "+d.Resource, ev.Request.Verb != "delete")
	case ev.Stored != nil:
		m.act("object "+ev.Stored.Key, ev.Stored.Type != history.StoredDelete && harness(ev.Stored))
		m.revision = max(m.revision, ev.Stored.Revision)
		m.stored[ev.Stored.Key] = *ev
		if ev.Stored.Type == history.StoredDelete {
			delete(m.stored, ev.Stored.Key)
		}
	case ev.Process != nil:
		m.process(ev)
	case ev.Ready != nil:
		m.ready[ev.Member] = *ev
	case ev.HostedResources != nil:
		m.hosted[ev.Member] = *ev
	case ev.Watch != nil:
		m.watch(ev)
	case ev.Step != nil:
		m.act("step", ev.Step.Phase == history.PhaseBegin)
	case ev.Hold != nil:
		m.act("hold", ev.Hold.Phase == history.PhaseBegin)
	case ev.Fault != nil:
		m.act("fault "+ev.Fault.ID, ev.Fault.Phase != history.PhaseHeal)
	case ev.ThirdPartyObject != nil:
		key := place{ev.ThirdPartyObject.Type, ev.ThirdPartyObject.Name}
		m.others[key] = *ev
		if ev.ThirdPartyObject.Change == history.ThirdPartyDeleted {
			delete(m.others, key)
		}
	}
}

// harness is whether the harness made an object in etcd.
func harness(s *history.Stored) bool {
	return s.Writer != "" || s.Migration != nil || strings.Contains(s.Key, "/evenkeel-") || strings.Contains(s.Key, "-evenkeel-")
}

func (m *midway) act(what string, begins bool) {
	delete(m.acting, what)
	if begins {
		m.acting[what] = true
	}
}

func (m *midway) process(ev *history.Event) {
	key := place{ev.Member, ev.Process.Component}
	switch ev.Process.Change {
	case history.ProcessStarted:
		m.processes[key] = ev
		m.before[key] = ev.Process.Instance - 1
	case history.ProcessExited:
		if now := m.processes[key]; now != nil && now.Process.Instance == ev.Process.Instance {
			delete(m.processes, key)
			m.before[key] = ev.Process.Instance
		}
	case history.ProcessPaused, history.ProcessResumed:
		m.act("pause "+ev.Member+ev.Process.Component, ev.Process.Change == history.ProcessPaused)
	}
}

func (m *midway) watch(ev *history.Event) {
	key := place{ev.Member, ev.Watch.Resource}
	switch ev.Watch.Type {
	case history.WatchOpened:
		m.watches[key] = &shown{*ev, map[string]history.Event{}}
	case history.WatchBroken:
		delete(m.watches, key)
	case "DELETED":
		if w := m.watches[key]; w != nil {
			delete(w.objects, ev.Watch.Name)
		}
	default:
		if w := m.watches[key]; w != nil {
			w.objects[ev.Watch.Name] = *ev
		}
	}
}

// begin tells what is so as the run begins: what etcd has and which processes there are, and
// then what the API servers answer.
func (m *midway) begin(processesFirst bool) {
	byKey := func(a, b place) int { return cmp.Or(cmp.Compare(a.member, b.member), cmp.Compare(a.what, b.what)) }
	m.tell(history.Event{Kind: history.KindStep, Step: &history.Step{Action: "boot", Phase: history.PhaseBegin}})
	// Which recorder comes first is chance.
	if processesFirst {
		m.living(byKey)
		m.lying()
	} else {
		m.lying()
		m.living(byKey)
	}
	for _, key := range slices.SortedFunc(maps.Keys(m.others), byKey) {
		ev := m.others[key]
		o := *ev.ThirdPartyObject
		o.Change = history.ThirdPartyPresent
		ev.ThirdPartyObject = &o
		m.tell(ev)
	}
	for _, member := range slices.Sorted(maps.Keys(m.ready)) {
		ev := m.ready[member]
		ready := *ev.Ready
		if ready.Code == 200 {
			ready.Revision = m.revision
		}
		ev.Ready = &ready
		m.tell(ev)
		if hosted, ok := m.hosted[member]; ok {
			look := *hosted.HostedResources
			look.Revision = m.revision
			hosted.HostedResources = &look
			m.tell(hosted)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(m.watches), byKey) {
		w := m.watches[key]
		opened := *w.opened.Watch
		opened.ResourceVersion = m.revision
		w.opened.Watch = &opened
		m.tell(w.opened)
		for _, name := range slices.Sorted(maps.Keys(w.objects)) {
			ev := w.objects[name]
			one := *ev.Watch
			one.Type = "ADDED"
			ev.Watch = &one
			m.tell(ev)
		}
	}
	m.tell(history.Event{Kind: history.KindStep, Step: &history.Step{Action: "boot", Phase: history.PhaseEnd}})
}

// lying tells what etcd has.
func (m *midway) lying() {
	for _, ev := range slices.SortedFunc(maps.Values(m.stored), func(a, b history.Event) int { return cmp.Compare(a.Seq, b.Seq) }) {
		s := *ev.Stored
		s.Writer, s.Write = "", 0 // the run's own writes have not begun
		ev.Stored, ev.Given = &s, true
		m.tell(ev)
	}
}

// living tells which processes there are.
func (m *midway) living(byKey func(a, b place) int) {
	for _, key := range slices.SortedFunc(maps.Keys(m.processes), byKey) {
		ev := *m.processes[key]
		p := *ev.Process
		p.Instance = 1
		ev.Process, ev.Given = &p, true
		m.tell(ev)
	}
}

// tell tells something as the run begins.
func (m *midway) tell(ev history.Event) {
	ev.At, ev.From = m.told, 0
	m.told += telling
	m.out = append(m.out, ev)
}

// follow tells an event of after the beginning.
func (m *midway) follow(ev history.Event) {
	ev.At += m.told - m.began
	if ev.From > 0 {
		ev.From = max(ev.From-m.began, 0) + m.told
	}
	if ev.Process != nil {
		p := *ev.Process
		p.Instance -= m.before[place{ev.Member, p.Component}]
		ev.Process = &p
	}
	m.out = append(m.out, ev)
}
