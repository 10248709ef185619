package explore

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/release"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// states follows the state of a control plane through its history: which releases its members
// run, which of them leads, how far migrations are, and which fault is active.
type states struct {
	// members and their hosts, by which Leases name them.
	members, hosts []string
	named          *regexp.Regexp // matches one of those
	run            string
	releases       map[string]string
	back           bool // whether a member has gone back
	holder         string
	migration      string
	faults         map[string]string // by ID
	marks          []mark
	// hits are when faults and steps concerned a member, lasting has those by a fault or step that
	// is not over, and times when each event was, by its number.
	hits    []hit
	lasting map[string]int
	times   []int64
}

// mark is the state from an event on.
type mark struct {
	seq   int64
	state string
}

// hit is that a member was struck from one time to another.
type hit struct {
	member      string
	from, until int64
}

// struckFor is how long after the end of a fault or a step a member counts as struck: what it does
// then may follow from that.
const struckFor = 10 * time.Second

// leaderKey is the Lease whose holder is the leader in a state.
const leaderKey = "/registry/leases/kube-system/kube-controller-manager"

func newStates(h history.Header) *states {
	s := &states{run: h.Run, releases: map[string]string{}, faults: map[string]string{}, lasting: map[string]int{}, migration: "none"}
	for _, m := range h.Members {
		s.members = append(s.members, m.Name)
		s.hosts = append(s.hosts, cmp.Or(m.Host, m.Name))
		s.releases[m.Name] = m.Release
	}
	s.named = anyOf(slices.Concat(s.members, s.hosts))
	s.mark(0)
	return s
}

func (s *states) take(ev *history.Event) {
	s.times = append(s.times, ev.At)
	switch {
	case ev.Process != nil && ev.Process.Change == history.ProcessStarted && ev.Process.Release != "":
		if release.Compare(ev.Process.Release, s.releases[ev.Member]) < 0 {
			s.back = true
		}
		s.releases[ev.Member] = ev.Process.Release
	case ev.Stored != nil && ev.Stored.Key == leaderKey:
		s.holder = ""
		if l := ev.Stored.Lease; l != nil {
			s.holder = s.memberOf(l.Holder)
		}
	case ev.Stored != nil && ev.Stored.Migration != nil:
		s.migration = migrationPhase(ev.Stored.Migration)
	case ev.Fault != nil:
		s.takeFault(ev)
	case ev.Step != nil:
		s.strike(ev, fmt.Sprint("step ", ev.Step.Index), ev.Step.Phase == history.PhaseBegin)
		return
	default:
		return
	}
	s.mark(ev.Seq)
}

func (s *states) takeFault(ev *history.Event) {
	s.strike(ev, fmt.Sprint("fault ", ev.Fault.ID, " ", ev.Member), ev.Fault.Phase == history.PhaseInject)
	switch ev.Fault.Phase {
	case history.PhaseInject:
		s.faults[ev.Fault.ID] = strings.Trim(fmt.Sprintf("%s/%s %s at %s", ev.Fault.Type, ev.Fault.Action, ev.Fault.Component, s.roleNow(ev.Member)), " ")
	case history.PhaseHeal:
		delete(s.faults, ev.Fault.ID)
	default: // the others neither begin nor end an effect
	}
}

// strike notes that a fault or a step concerns a member: from its begin until a while after its end,
// or until the history ends.
func (s *states) strike(ev *history.Event, what string, begins bool) {
	if ev.Member == "" {
		return
	}
	at, lasts := s.lasting[what]
	switch {
	case begins:
		s.lasting[what] = len(s.hits)
		s.hits = append(s.hits, hit{ev.Member, ev.At, math.MaxInt64})
	case lasts && ev.Fault != nil && ev.Fault.Phase == history.PhaseWitness:
		// It goes on.
	case lasts:
		s.hits[at].until = ev.At + int64(struckFor)
		delete(s.lasting, what)
	default:
		s.hits = append(s.hits, hit{ev.Member, ev.At, ev.At + int64(struckFor)})
	}
}

// roleNow is whether a member leads.
func (s *states) roleNow(member string) string {
	if member == s.holder && member != "" {
		return "leader"
	}
	return "other"
}

// memberOf finds the member on whose host the holder of a Lease runs.
func (s *states) memberOf(holder string) string {
	host, _, _ := strings.Cut(holder, "_")
	if at := slices.Index(s.hosts, host); at >= 0 && host != "" {
		return s.members[at]
	}
	return ""
}

func migrationPhase(m *history.Migration) string {
	phase := "created"
	for _, c := range m.Conditions {
		if c.Status == "True" {
			phase = c.Type
		}
	}
	return phase
}

// skew says how many members run which release, the oldest as 0.
func (s *states) skew() string {
	order := slices.Collect(maps.Values(s.releases))
	slices.SortFunc(order, release.Compare)
	distinct := slices.Compact(slices.Clone(order))
	var parts []string
	for i, r := range distinct {
		n := len(slices.DeleteFunc(slices.Clone(order), func(one string) bool { return one != r }))
		parts = append(parts, fmt.Sprintf("%d:%d", i, n))
	}
	out := strings.Join(parts, " ")
	if s.back {
		out += " back"
	}
	return out
}

// leads says which release the leader runs, in relation to the others.
func (s *states) leads() string {
	if s.holder == "" {
		return "none"
	}
	own, least, most := s.releases[s.holder], s.releases[s.holder], s.releases[s.holder]
	for _, other := range s.releases {
		if release.Compare(other, least) < 0 {
			least = other
		}
		if release.Compare(other, most) > 0 {
			most = other
		}
	}
	switch {
	case least == most:
		return "one"
	case own == most:
		return "newest"
	}
	return "older"
}

func (s *states) mark(seq int64) {
	active := slices.Sorted(maps.Values(s.faults))
	state := fmt.Sprintf("skew %s | leader %s | migration %s | faults %s", s.skew(), s.leads(), s.migration, strings.Join(slices.Compact(active), ", "))
	if n := len(s.marks); n == 0 || s.marks[n-1].state != state {
		s.marks = append(s.marks, mark{seq, state})
	}
}

// at is the state at an event.
func (s *states) at(seq int64) string {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].seq > seq })
	return s.marks[max(i-1, 0)].state
}

// roleAt is the role of the member of a breach: struck by a fault or a step, or not.
func (s *states) roleAt(member string, seq int64) string {
	if member == "" {
		return ""
	}
	at := int64(0)
	if seq > 0 && seq <= int64(len(s.times)) {
		at = s.times[seq-1]
	}
	for _, h := range s.hits {
		if h.member == member && h.from <= at && at <= h.until {
			return "struck member"
		}
	}
	return "bystander"
}

// features are all states, and each with the requirements of which an obligation began in it.
func (s *states) features(obligations map[requirement.ID][]law.Entry) []string {
	all := map[string]bool{}
	for _, m := range s.marks {
		all[m.state] = true
	}
	for id, entries := range obligations {
		for _, e := range entries {
			all[s.at(e.Began.Seq)+" | "+string(id)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
