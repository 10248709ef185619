package main

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// sizes of control planes that are enumerated.
var sizes = []int{3, 5, 7}

const preface = `# Version skew while members are replaced

KEP-4355 says that with plain Leases there is a chance of about 25 % that a
controller of the new version runs while old API servers are active, when three
members are upgraded one by one, and that in a rollback this is almost certain. This
is ` + "`make skew`" + `; what is played is added by ` + "`make skew RUNS=30`" + `.

## Exactly

Every order of the members, every leader to begin with (all equally likely) and
every hand-over is gone through. A violation is a leader that is newer than an API
server that runs. It is *lasting* if only the next replacement ends it, and not the
election itself.

- A member is stopped with all that is on it, and comes back at the other release
  before the next one is touched. Nobody loses a Lease otherwise.
- With plain Leases everybody who is there is as likely as the others to take a Lease
  that nobody holds. With coordination the coordinator decides, by the function that
  the reference decides with (` + "`impl/election`" + `), and all candidates answer.
- *Passed on*: somebody else has the Lease before the member is back, as where leaders
  give it up when they stop. *Outlived*: the member is back before its Lease has run
  out, and takes part in the election of its own successor, as where leaders do not
  give up and a restart takes less than a Lease lasts.

| members | way | Lease | plain, ever | plain, lasting | coordinated, ever | coordinated, lasting |
|---|---|---|---|---|---|---|
`

const reading = `
The 25 % of the KEP hold to the digit for three members and a Lease that is passed
on. With more members it is more, and more again where the Lease outlives the
restart: 41 % for three. In a rollback plain Leases break the policy always or
nearly so, as the KEP has it.

With coordination an upgrade never breaks it, as long as all of a member ends at one
moment. Where the last older API server ends later than the controllers beside it, a
newer leader may be there before it is gone: played, that happened in about half of the
upgrades, mostly for a second.
A rollback does break it, however shortly: the API server of the first member that
goes back runs before anybody of its release can lead, and the leader, newer than it,
goes on until it is told to give up. So the KEP's goal, to respect version skew in
rollbacks too, is met but for the time of that hand-over.

The policy is taken as the KEP takes it, between a leader and all API servers of the
control plane. Where each controller talks to the API server of its own member alone,
none of this is a violation.
`

// markdown is the report.
func markdown(m *measured) string {
	var b strings.Builder
	b.WriteString(preface)
	for _, back := range []bool{false, true} {
		for _, n := range sizes {
			for _, outlived := range []bool{false, true} {
				r := rollout{back, outlived}
				without, with := enumerate(n, plain{}, r), enumerate(n, newCoordinated(), r)
				fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s |\n", n, way(back), passing(outlived),
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

// share is a probability in percent, with the fraction where that is not plain.
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

// markdown of what was played.
func (m *measured) markdown() string {
	if len(m.Cells) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
## Played

Three members of the reference as local processes, in an order drawn anew for each
run, with the timings of Leases divided by five (3 s, 2 s and 0.4 s), and %s of rest
after each replacement. The intervals are Wilson's, at 95 %%. Leaders give their
Lease up when they stop.

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
	low, high := interval(hits, n)
	return fmt.Sprintf("%d, %.0f %% (%.0f–%.0f %%)", hits, 100*float64(hits)/float64(n), 100*low, 100*high)
}
