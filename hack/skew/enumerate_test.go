package main

import (
	"fmt"
	"math/big"
	"testing"
)

// The expected values are computed by hand for three members. Plain Leases, upgrade: the
// first leader hands over when its member is replaced. If the first member leads, it
// hands over to the second with 1/2, which hands over to a newer one with 1/2. If the
// second leads, it hands over to a newer one with 1/2. If the third leads, no older
// member is left. (1/4 + 1/2 + 0)/3.
func TestEnumerate_ThreeMembers(t *testing.T) {
	for _, tc := range []struct {
		name          string
		e             election
		r             rollout
		ever, lasting string
	}{
		{"plain, upgraded", plain{}, rollout{upgrade, false}, "1/4", "1/4"},
		// If the first member leads, it hands over to itself with 1/3, and with 1/3 to the
		// second, which hands over to a newer one with 2/3. (5/9 + 2/3 + 0)/3.
		{"plain, upgraded, back in time", plain{}, rollout{upgrade, true}, "11/27", "11/27"},
		{"plain, rolled back", plain{}, rollout{rollback, false}, "1", "1"},
		// No leader is newer than the first member that comes back only if that member led
		// and gets the Lease again.
		{"plain, rolled back, back in time", plain{}, rollout{rollback, true}, "8/9", "8/9"},
		// After the first step the first member leads with 5/8 and the second with 3/8, since
		// each hands over when its binaries are replaced. The first one, when it raises, hands
		// over to the second with 1/2, which hands over to a newer one with 1/2; the second hands
		// over to a newer one with 1/2. 5/8 × 1/4 + 3/8 × 1/2.
		{"plain, in two steps", plain{}, rollout{twoSteps, false}, "11/32", "11/32"},
		{"plain, rolled back after the first step", plain{}, rollout{beforeLast, false}, "0", "0"},
		{"coordinated, in two steps", newCoordinated(), rollout{twoSteps, false}, "0", "0"},
		{"coordinated, rolled back after the first step", newCoordinated(), rollout{beforeLast, true}, "0", "0"},
		{"coordinated, upgraded", newCoordinated(), rollout{upgrade, false}, "0", "0"},
		{"coordinated, upgraded, back in time", newCoordinated(), rollout{upgrade, true}, "0", "0"},
		// The first older API server runs before any candidate of its release can lead.
		{"coordinated, rolled back", newCoordinated(), rollout{rollback, false}, "1", "0"},
		// As above, unless that member led, and is elected again at once.
		{"coordinated, rolled back, back in time", newCoordinated(), rollout{rollback, true}, "2/3", "0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := enumerate(3, tc.e, tc.r)
			if fmt.Sprint(got.ever.RatString(), " ", got.lasting.RatString()) != tc.ever+" "+tc.lasting {
				t.Errorf("ever %s and lasting %s, want %s and %s", got.ever.RatString(), got.lasting.RatString(), tc.ever, tc.lasting)
			}
		})
	}
}

// unfair is an election that prefers the newer members, so its chances must differ from
// those of plain.
type unfair struct{ plain }

func (unfair) vacant(p plane) map[int]*big.Rat {
	for _, i := range p.present() {
		if p.members[i].behaves {
			return certain(i)
		}
	}
	return certain(p.present()[0])
}

func TestEnumerate_UnfairElectionIsMoreLikelyToSkew(t *testing.T) {
	if got := enumerate(3, unfair{}, rollout{upgrade, false}); got.lasting.Cmp(big.NewRat(1, 4)) <= 0 {
		t.Errorf("%s where the newest is always elected", got.lasting.RatString())
	}
}

// A cached decision must equal the decision that the reference would take again.
func TestCoordinated_CacheKeepsDecisions(t *testing.T) {
	permute(4, func(order []int) {
		c := newCoordinated()
		for step, gone := range order {
			p := plane{members: make([]member, len(order)), away: none}
			for i := range p.members {
				p.members[i] = member{born: i}
			}
			for again, i := range order[:step] {
				p.members[i] = member{plainNewer, len(order) + again}
			}
			p.away = gone
			for leader := none; leader < len(order); leader++ {
				if leader == gone {
					continue
				}
				if got, want := c.settled(p, leader), decide(p, leader); got != want || c.settled(p, leader) != want {
					t.Fatalf("%+v, led by %d: %d, want %d", p, leader, got, want)
				}
			}
		}
	})
}

func TestPermute(t *testing.T) {
	seen := map[string]bool{}
	permute(4, func(order []int) { seen[fmt.Sprint(order)] = true })
	if len(seen) != 24 {
		t.Errorf("%d orders of four", len(seen))
	}
}
