package fact

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// IdentityLeasePrefix is where etcd has the identity Leases of API servers.
const IdentityLeasePrefix = "/registry/leases/kube-system/"

// Participation is how one API server was on the list of participants: while its
// identity Lease exists. It says nothing of whether the server lives.
type Participation struct {
	Server string
	// Spans are the times at which the Lease existed, Renewals its changes.
	Spans    []ParticipationSpan
	Renewals []Renewal
}

// ParticipationSpan is one existence of an identity Lease.
type ParticipationSpan struct {
	Joined Stamp
	// Left is nil while it lasts.
	Left *Stamp
}

// Renewal is one state of an identity Lease.
type Renewal struct {
	Stamp
	// Renewed is by the server's clock, Duration how long the Lease is valid after.
	Renewed  time.Time
	Duration time.Duration
	// Lapsed is whether the Lease had run out before, or had been deleted.
	Lapsed bool
	// Until is when the Lease was renewed or deleted next; nil if it was not.
	Until *Stamp
}

func (h *History) observeParticipation(ev *history.Event) {
	s := ev.Stored
	id, ok := strings.CutPrefix(s.Key, IdentityLeasePrefix)
	if !ok {
		return
	}
	p := h.participations[id]
	if s.Type == history.StoredDelete {
		if p.there() {
			left := StampOf(ev)
			p.Spans[len(p.Spans)-1].Left = &left
			p.Renewals[len(p.Renewals)-1].Until = &left
		}
		return
	}
	// A Lease that has lost its label is still the one by which the server joined, so the
	// label only counts when the Lease is new here.
	if s.Lease == nil || !p.there() && !s.Lease.Identity {
		return
	}
	if p == nil {
		p = &Participation{Server: id}
		h.participations[id] = p
	}
	now := Renewal{Stamp: StampOf(ev), Renewed: s.Lease.Renewed, Duration: time.Duration(s.Lease.Duration) * time.Second}
	if p.there() {
		last := &p.Renewals[len(p.Renewals)-1]
		last.Until = &now.Stamp
		now.Lapsed = last.Duration > 0 && !last.Renewed.IsZero() && now.Renewed.Sub(last.Renewed) >= last.Duration
	} else {
		now.Lapsed = len(p.Spans) > 0
		joined := now.Stamp
		joined.Revision = s.Created
		p.Spans = append(p.Spans, ParticipationSpan{Joined: joined})
	}
	p.Renewals = append(p.Renewals, now)
}

func (p *Participation) there() bool {
	return p != nil && len(p.Spans) > 0 && p.Spans[len(p.Spans)-1].Left == nil
}

// Participants are all servers that ever took part, in order.
func (h *History) Participants() []*Participation {
	return Each(slices.Sorted(maps.Keys(h.participations)), h.Participation)
}

// Participation is how a server took part; one without spans if it never did.
func (h *History) Participation(server string) *Participation {
	if p := h.participations[server]; p != nil {
		return p
	}
	return &Participation{Server: server}
}

// TakesPart is whether a server took part at a revision.
func (h *History) TakesPart(server string, revision int64) bool {
	return h.Participation(server).Through(revision, revision)
}

// Stretches are those of its Spans.
func (p *Participation) Stretches() []Stretch {
	return Each(p.Spans, func(s ParticipationSpan) Stretch { return Stretch{s.Joined, s.Left} })
}

// Through is whether one and the same identity Lease was there all the time between two
// revisions.
func (p *Participation) Through(from, to int64) bool {
	return slices.ContainsFunc(p.Stretches(), func(s Stretch) bool { return s.Through(from, to) })
}

// During is whether an identity Lease was there at some time after one revision, up to
// another one.
func (p *Participation) During(after, until int64) bool {
	return slices.ContainsFunc(p.Stretches(), func(s Stretch) bool { return s.During(after, until) })
}

// Signal is while the server takes part.
func (p *Participation) Signal(h *History) Signal { return h.Lasting(p.Stretches()) }
