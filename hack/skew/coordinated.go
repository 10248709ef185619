package main

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	reference "github.com/evenkeel/evenkeel/impl/election"
)

// coordinated is election by a coordinator, which decides by the reference's own
// function. Every running candidate answers its ping at once.
type coordinated struct {
	// known caches decisions by everything that they depend on: the releases that run,
	// the leader, and the order of age.
	known map[string]int
}

func newCoordinated() *coordinated { return &coordinated{map[string]int{}} }

// alike is false: among members of the same release the oldest leads.
func (*coordinated) alike() bool { return false }

// Releases as candidates name them.
const (
	older = "1.2.0"
	newer = "1.3.0"
)

// turns bounds how many decisions an election may take: ping, end the leader's term,
// ping again, elect, and find nothing more to do.
const turns = 8

// noon is an arbitrary time to count from.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func (c *coordinated) vacant(p plane) map[int]*big.Rat {
	return map[int]*big.Rat{c.settled(p, none): big.NewRat(1, 1)}
}

func (c *coordinated) settled(p plane, leader int) int {
	present := p.present()
	slices.SortFunc(present, func(a, b int) int { return p.members[a].born - p.members[b].born })
	key := ""
	for _, i := range present {
		key += fmt.Sprint(p.members[i].played, i == leader)
	}
	place, ok := c.known[key]
	if !ok {
		place = slices.Index(present, decide(p, leader))
		c.known[key] = place
	}
	return present[place]
}

// decide calls the reference's decision function until there is nothing more to do.
func decide(p plane, leader int) int {
	var candidates []*reference.Candidate
	numbers := map[string]int{}
	for _, i := range p.present() {
		c := candidate(i, p.members[i])
		numbers[c.Name] = i
		candidates = append(candidates, c)
	}
	lease := &coordinationv1.Lease{}
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(reference.LeaseDuration.Seconds()))
	lease.Spec.Strategy = ptr.To(reference.Oldest)
	if leader != none {
		lease.Spec.HolderIdentity = ptr.To(name(leader))
	}
	now, round := noon, reference.Round{}
	for range turns {
		d := reference.Decide(reference.View{Lease: lease, Since: now, Candidates: candidates}, round, now)
		round = d.Round
		if d.Write == nil && len(d.Ping) == 0 {
			if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
				return numbers[holder]
			}
			break
		}
		for _, asked := range d.Ping {
			ping := reference.PingTime(asked, now)
			if round.Asked == nil {
				round.Asked = map[types.UID]metav1.MicroTime{}
			}
			round.Asked[asked.UID], asked.Spec.PingTime = ping, &ping
			asked.Spec.RenewTime = ptr.To(reference.RenewTime(asked, now))
		}
		if w := d.Write; w != nil {
			lease.Spec.HolderIdentity = ptr.To(w.Holder)
			// A leader gives up at once when the Lease names a preferred holder.
			lease.Spec.PreferredHolder = nil
			round = reference.Round{}
		}
		now = now.Add(time.Millisecond)
	}
	panic(fmt.Sprintf("no leader was elected within %d decisions: %+v, led by %d", turns, p, leader))
}

func name(i int) string { return fmt.Sprintf("cp%d", i+1) }

// candidate returns the candidate of a member. Of two with the same release the older
// one is preferred.
func candidate(i int, m member) *reference.Candidate {
	c := &reference.Candidate{ObjectMeta: metav1.ObjectMeta{
		Name: name(i), UID: types.UID(name(i)), CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(m.born-1000) * time.Second)),
	}}
	c.Spec.BinaryVersion, c.Spec.EmulationVersion, c.Spec.Strategy = versionOf(m.binary), versionOf(m.behaves), reference.Oldest
	c.Spec.RenewTime = ptr.To(metav1.NewMicroTime(noon.Add(-time.Second)))
	return c
}

func versionOf(isNewer bool) string {
	if isNewer {
		return newer
	}
	return older
}
