package main

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// sizes are the numbers of members of the control planes that are enumerated.
var sizes = []int{3, 5, 7}

const preface = `# Version skew while members are replaced

KEP-4355 says that with plain Leases there is a chance of about 25 % that a
controller of the new version runs while old API servers are active, when three
members are upgraded one by one, and that in a rollback this is almost certain. This
report is the output of ` + "`make skew`" + `; ` + "`make skew RUNS=30`" + ` adds recorded runs.

## Exactly

The enumeration covers every order of the members, every first leader (all equally
likely) and every hand-over. A violation is a leader that behaves like a newer release
than a running API server. It is *lasting* if only the next replacement ends it, and not the election
itself.

- A member stops with all its components, and comes back at the other release before
  the next member stops. A leader loses its Lease in no other way.
- With plain Leases every running instance is equally likely to take a Lease without a
  holder. With coordination the coordinator decides, by the function that the
  reference decides with (` + "`impl/election`" + `), and all candidates answer.
- *Passed on*: another instance has the Lease before the member is back, as where
  leaders release the Lease when they stop. *Outlived*: the member is back before its
  Lease expires, and takes part in the election of its own successor, as where leaders
  do not release the Lease and a restart takes less time than the Lease duration.
- *Upgrade in two steps*: the binaries of all members are replaced first, and emulate the
  older release; then all raise what they emulate, in the same order (KEP-4330). *Rollback
  after the first* takes the binaries of all back before any member has raised.

| members | way | Lease | plain, ever | plain, lasting | coordinated, ever | coordinated, lasting |
|---|---|---|---|---|---|---|
`

const reading = `
The 25 % of the KEP is exact for three members and a Lease that is passed on. The
probability is higher with more members, and higher again where the Lease outlives the
restart: 41 % for three members. In a rollback plain Leases violate the policy always
or almost always, as the KEP says.

With coordination an upgrade never violates the policy, as long as all components of a
member stop at the same moment. Where the last older API server stops later than the
controllers beside it, a newer leader may act before that API server has stopped. In
the recorded runs that happened in about half of the upgrades, mostly for a second.
A rollback does violate the policy for a short time: the API server of the first member
that goes back runs before any instance of its release can lead, and the newer leader
continues until the coordinator tells it to give up. So the KEP's goal, to respect
version skew in rollbacks too, is met except for the time of that hand-over.

An upgrade in two steps moves the violations to its second step. As long as all members
emulate the older release, no leader behaves like a newer one, and the binaries can be
rolled back without a violation, with plain Leases too. The first step leaves plain
Leases with the members that come first in the order, though: these raise first as
well, so that in all it is more likely that one leads too early than in an upgrade of
one step. With coordination none does.

This report takes the policy as the KEP takes it, between a leader and all API servers
of the control plane. Where each controller connects to the API server of its own
member alone, none of this is a violation.
`

// markdown returns the report.
func markdown(m *measured) string {
	var b strings.Builder
	b.WriteString(preface)
	for _, c := range courses {
		for _, n := range sizes {
			for _, outlived := range []bool{false, true} {
				r := rollout{c, outlived}
				without, with := enumerate(n, plain{}, r), enumerate(n, newCoordinated(), r)
				fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s |\n", n, c.name, passing(outlived),
					share(without.ever), share(without.lasting), share(with.ever), share(with.lasting))
			}
		}
	}
	b.WriteString(reading)
	b.WriteString(m.markdown())
	return b.String()
}

func passing(outlived bool) string {
	if outlived {
		return "outlived"
	}
	return "passed on"
}

// share formats a probability in percent, with the fraction where it is short and not whole.
func share(r *big.Rat) string {
	if r.IsInt() {
		return new(big.Rat).Mul(r, big.NewRat(100, 1)).FloatString(0) + " %"
	}
	percent := new(big.Rat).Mul(r, big.NewRat(100, 1)).FloatString(1) + " %"
	if len(r.RatString()) > 7 {
		return percent
	}
	return percent + " (" + r.RatString() + ")"
}

// markdown returns the section on recorded runs; it is empty where there are none.
func (m *measured) markdown() string {
	if len(m.Cells) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
## Played

Three members of the reference run as local processes, in an order drawn anew for each
run, with the timings of Leases divided by five (3 s, 2 s and 0.4 s), and %s of rest
after each replacement. The intervals are Wilson's, at 95 %%. Leaders
release their Lease when they stop.

| way | election | runs | ever | lasting | median and longest time of skew, where there was any |
|---|---|---|---|---|---|
`, settles)
	for _, back := range []bool{false, true} {
		for _, coordinated := range []bool{false, true} {
			c := m.of(coordinated, back)
			times := "–"
			if len(c.Milliseconds) > 0 {
				times = fmt.Sprintf("%s, %s", c.median().Round(10*time.Millisecond), c.longest().Round(10*time.Millisecond))
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s |\n", way(back), electing(coordinated), c.Runs, counted(c.Ever, c.Runs), counted(c.Lasting, c.Runs), times)
		}
	}
	return b.String()
}

func counted(hits, n int) string {
	if n == 0 {
		return "–"
	}
	low, high := bench.Share(hits, n)
	return fmt.Sprintf("%d, %.0f %% (%.0f–%.0f %%)", hits, 100*float64(hits)/float64(n), 100*low, 100*high)
}
