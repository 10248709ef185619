package fact

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// History is what a history says that every KEP needs. Observe it event by event; the
// facts may be asked for at any time, and hold for what was observed so far.
type History struct {
	Header history.Header
	// Seq and Now are the number and the time of the last event.
	Seq, Now int64
	// ended is whether the harness said that it has told everything.
	ended bool
	// End is the last event's; nil where the history has none.
	End *history.End
	// Steps and Holds are in the order in which they began.
	Steps []*Step
	Holds []*Hold
	// Faults are in the order in which they were injected.
	Faults []*Fault

	// times are those of the events, by which a time finds its evidence.
	times       []eventTime
	recorders   recorders
	starvations []starvation
	// diskFull is since when a disk of the machine may have been full; 0 if none was.
	diskFull       int64
	clock          Clock
	processes      processes
	readiness      map[string]*readiness
	versions       map[string]*StorageVersion
	participations map[string]*Participation
	hosting        hosting
	writes         writes
	managers       Values[Holding]
	asked          map[object][]*Asked
	// told is the revision up to which the recorder of etcd has told all, and tellings are
	// the events by which it did.
	told     int64
	tellings []telling
	cache    cache
}

// NewHistory makes the facts of a history of which nothing was observed.
func NewHistory(header history.Header) *History {
	return &History{
		Header: header, processes: newProcesses(), hosting: newHosting(header), writes: newWrites(), readiness: map[string]*readiness{},
		versions: map[string]*StorageVersion{}, participations: map[string]*Participation{}, asked: map[object][]*Asked{},
	}
}

// Observe takes the next event in.
func (h *History) Observe(ev *history.Event) {
	if ev.Seq != h.Seq+1 {
		h.recorders.missing = true
		h.recorders.distrust(ev.Seq)
	}
	h.Seq = ev.Seq
	if ev.End == nil || !h.Midway() {
		h.Now = ev.At // a run leaves a cluster that stays in order after its recorders, and ends then
	}
	h.times = append(h.times, eventTime{ev.At, ev.Seq})
	h.recorders.observe(ev)
	h.ended = h.ended || ev.Kind == history.KindEnd
	switch {
	case ev.Stored != nil:
		h.observeStored(ev)
	case ev.Request != nil:
		h.observeRequest(ev)
		h.hosting.define(ev)
		h.writes.answered(ev)
		h.observeAsked(ev)
	case ev.Process != nil:
		h.processes.observe(ev)
	case ev.Ready != nil:
		h.clock.Seen(ev.Ready.Revision, ev.At)
		h.observeReady(ev)
	case ev.HostedResources != nil:
		h.clock.Seen(ev.HostedResources.Revision, ev.At)
		h.hosting.observe(ev)
	case ev.Hold != nil:
		h.clock.Seen(ev.Hold.Revision, ev.At)
		h.observeHold(ev)
	case ev.Step != nil:
		h.observeStep(ev)
	case ev.Fault != nil:
		h.observeFault(ev)
	case ev.EtcdHealth != nil:
		h.observeEtcd(ev)
	case ev.Starvation != nil:
		h.observeStarvation(ev)
	case ev.End != nil:
		end := *ev.End
		h.End = &end
	}
}

// observeStored takes a change in etcd in. The recorder tells them in the order of their
// revisions, of which several keys may share one.
func (h *History) observeStored(ev *history.Event) {
	if ev.Stored.Revision < h.told {
		h.recorders.retold++
		h.recorders.distrust(ev.Seq)
		return
	}
	h.tell(ev.Stored.Revision, ev.Seq)
	h.clock.Seen(ev.Stored.Revision, ev.At)
	h.clock.Told(ev.Stored.Revision, h.recorded(StampOf(ev)), ev.At)
	h.observeStorageVersion(ev)
	h.observeParticipation(ev)
	h.writes.stored(ev)
	h.observeManager(ev)
}

// Told is whether the recorder of etcd has told of all up to a revision that was read by a
// time: No if it never did, Unknown if the history ended before it had to.
func (h *History) Told(revision, at int64) Truth {
	switch {
	case revision <= h.told:
		return Yes
	case at >= h.recorders.recordedSince(h.Now):
		return Unknown
	}
	return No
}

type telling struct{ revision, seq int64 }

func (h *History) tell(revision, seq int64) {
	if revision > h.told {
		h.told = revision
		h.tellings = append(h.tellings, telling{revision, seq})
	}
}

// ToldBy is the number of the event by which the recorder of etcd had told of all up to a
// revision: what is said of the revision rests on all events up to that one.
func (h *History) ToldBy(revision int64) int64 {
	i := Last(h.tellings, revision-1, func(t telling) int64 { return t.revision }) + 1
	if i == len(h.tellings) {
		return h.Seq
	}
	return h.tellings[i].seq
}

// ToldAllUntil is the number of the first event by which the recorder of etcd had told of
// all that was done until a time, or missed it: what is said of that time rests on all
// events up to that one. It is the last event's where the history ended before that.
func (h *History) ToldAllUntil(at int64) int64 {
	for _, t := range h.times[h.since(at):] {
		if h.recorders.recordedSince(t.at) > at {
			return t.seq
		}
	}
	return h.Seq
}

// LastTold is the highest revision up to which the recorder of etcd has told of all.
func (h *History) LastTold() int64 { return h.told }

// RevisionBy is the highest revision that is known to have been made by a time.
func (h *History) RevisionBy(at int64) int64 { return h.clock.By(at) }

// observeRequest reads the clock off a write that was acknowledged with its revision. A
// write that changes nothing is answered with an older revision, so only tagged writes,
// each of which changes its object, say after when a revision was made. What an aggregated
// server answers with is a revision of its own.
func (h *History) observeRequest(ev *history.Event) {
	r := ev.Request
	if r.ResourceVersion <= 0 || r.Code < 200 || r.Code >= 300 || r.Class == history.ClassAggregated {
		return
	}
	if r.Write > 0 && ev.From > 0 {
		h.clock.Made(r.ResourceVersion, ev.From, ev.At)
		return
	}
	h.clock.Seen(r.ResourceVersion, ev.At)
}

// StampOf is when an event was recorded.
func StampOf(ev *history.Event) Stamp {
	s := Stamp{Seq: ev.Seq, At: ev.At, From: ev.From}
	if ev.Given {
		s.From = LongAgo
	}
	if ev.Stored != nil {
		s.Revision = ev.Stored.Revision
	}
	return s
}

// When is the moment at which came about what an event tells of. Ask only when all of
// the history was observed: later events narrow the moments of earlier ones.
func (h *History) When(s Stamp) Moment {
	m := Moment{Earliest: h.recorded(s), Latest: s.At, Seq: s.Seq, Revision: s.Revision}
	if s.Revision > 0 {
		m.Earliest, m.Latest = h.clock.Bracket(s.Revision, m.Earliest, m.Latest)
	}
	return m
}

// recorded is the earliest time at which what an event tells of can have come about, by its
// recorder alone.
func (h *History) recorded(s Stamp) int64 {
	switch {
	case s.From == LongAgo:
		return LongAgo
	case s.From > 0:
		return min(s.From, s.At)
	case s.Revision > 0:
		return h.recorders.recordedSince(s.At)
	}
	return s.At
}

// Time is a time of a clock of the control plane on the time base of the history, in
// nanoseconds. A time far outside of it is as far away as can be reckoned with.
func (h *History) Time(t time.Time) int64 {
	const far = int64(100 * 365 * 24 * time.Hour)
	return min(max(int64(t.Sub(h.Header.Started)), -far), far)
}

// Midway is whether the control plane was there before the history begins, so that what is not
// told of before may have been all the same.
func (h *History) Midway() bool {
	_, midway := h.Header.Lack(history.LackEarlier)
	return midway
}

// Members are the names of the members, in the order of the header.
func (h *History) Members() []string {
	return Each(h.Header.Members, func(m history.MemberHeader) string { return m.Name })
}

// MemberOf is the member on whose host the holder of a Lease runs; empty if that is none.
func (h *History) MemberOf(holder string) string {
	if i := h.Header.MemberOf(holder); i >= 0 {
		return h.Header.Members[i].Name
	}
	return ""
}

// MemberOfServer is the member whose API server has an identity, and ServerID the identity
// of a member's; empty where there is none.
func (h *History) MemberOfServer(id string) string {
	return h.header(func(m history.MemberHeader) bool { return m.ServerID == id }).Name
}

// ServerID is the identity of a member's API server.
func (h *History) ServerID(member string) string {
	return h.header(func(m history.MemberHeader) bool { return m.Name == member }).ServerID
}

func (h *History) header(fits func(history.MemberHeader) bool) history.MemberHeader {
	if i := slices.IndexFunc(h.Header.Members, fits); i >= 0 {
		return h.Header.Members[i]
	}
	return history.MemberHeader{}
}

// Over is the last instant of the history; signals say nothing of what is later.
func (h *History) Over() Moment { return Exactly(h.Now, h.Seq) }

// own is the prefix of all that the harness itself makes or plays.
const own = "evenkeel-"

// Harness is whether an object is one of the harness, by its name with or without a
// namespace.
func Harness(name string) bool {
	return strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], own)
}

type eventTime struct{ at, seq int64 }

// since is the index of the first event that was recorded at a time or later.
func (h *History) since(at int64) int {
	return sort.Search(len(h.times), func(i int) bool { return h.times[i].at >= at })
}

// Evidence is the number of the first event that was recorded at a time or later: the one
// that shows what changed then. It is the last event's after the end.
func (h *History) Evidence(at int64) int64 {
	if i := h.since(at); i < len(h.times) {
		return h.times[i].seq
	}
	return h.Seq
}

// Rises are the moments at which a signal becomes Yes, with the events that show it.
func (h *History) Rises(s Signal) []Moment { return h.shown(s.Rises()) }

// MayRise are the moments at which a signal may become Yes, or never does, with the events
// that show it.
func (h *History) MayRise(s Signal) []Moment {
	out := s.MayRise()
	for i := range out {
		out[i].Latest = min(out[i].Latest, h.Now)
	}
	return h.shown(out)
}

func (h *History) shown(moments []Moment) []Moment {
	for i := range moments {
		moments[i].Seq = h.Evidence(moments[i].Latest)
	}
	return moments
}
