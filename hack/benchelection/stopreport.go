package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

const stopPreface = `# Leaders that are stopped in order, with and without release of the Lease

Repeated by

    make bench-stops

which measures one control plane after the other, and keeps what was measured of each in
` + "`stops.yaml`" + `. Each has three members, as processes of one machine. The leading controller
manager is sent SIGTERM, and started again when another one acts. *Released* is a
control plane whose leaders release their Lease when they are asked to end (KEP-5366): with the
feature gate ControllerManagerReleaseLeaderElectionLockOnExit of kube-controller-manager, which
is alpha and off by default in 1.36 and 1.37, or with the reference's default. *Kept* is one
whose leaders let it expire: kube-controller-manager ends at once then, and the reference ends its
work first, with ` + "`--leader-elect-release-on-exit=false`" + `.

- *Without a leader*: from when the Lease was released or the process had ended, whichever
  came first, until another instance led, which is its first renewal of the Lease.
- *Nothing acted*: from the last action of the former leader to the first one of the next.
- *Ran beside*: the stops after which the process of the former leader still ran when another
  instance led already. It could have acted then.
- *Acted beside*: the stops after which the former leader wrote once more after the next one
  had written, in the order of etcd. Actions of kube-controller-manager are writes of
  kube-root-ca.crt, which is deleted ten times a second; the reference writes evidence of
  acting every 0.7 seconds. What is shorter than that does not show.

Times are those of watches through the API servers of all members. The intervals are of 95 %:
of a median by the order of the values, whatever their distribution is, and of a share Wilson's.
`

// markdown is the report of all that was measured.
func (r *stopRecord) markdown() string {
	var b strings.Builder
	b.WriteString(stopPreface)
	b.WriteString("\n| control plane | Lease | stops | SIGTERM to exit, median | without a leader, median | longest | nothing acted, median | longest | ran beside | longest | acted beside | longest |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, row := range r.Columns {
		b.WriteString(row.markdown())
	}
	b.WriteString("\n")
	for _, row := range r.Columns {
		fmt.Fprintf(&b, "- %s: measured on %s on %s, of whose processors %.0f %% were busy; Leases of %s, renewed every %s, given up after %s without a renewal\n",
			row.Title+", "+row.lease(), row.Date, row.Machine, row.Busy*100, row.Lease, row.Retry, row.Deadline)
	}
	return b.String()
}

// lease says in words what becomes of the Lease of a leader that is stopped, and who elects.
func (r *stopRow) lease() string {
	what := "kept"
	if r.Releases {
		what = "released"
	}
	if r.Coordinated {
		what += ", coordinated"
	}
	return what
}

func (r *stopRow) markdown() string {
	of := func(figure func(stop) float64) []float64 {
		var all []float64
		for _, s := range r.Stops {
			all = append(all, figure(s))
		}
		return all
	}
	exit, leaderless := of(func(s stop) float64 { return s.Exit }), of(func(s stop) float64 { return s.Leaderless })
	idle := of(func(s stop) float64 { return s.Idle })
	beside, overlap := of(func(s stop) float64 { return s.Beside }), of(func(s stop) float64 { return s.Overlap })
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Title, r.lease(), len(r.Stops),
		medianOf(exit), medianOf(leaderless), longest(leaderless), medianOf(idle), longest(idle),
		shareOf(beside), longest(beside), shareOf(overlap), longest(overlap))
}

// medianOf is the median with its interval.
func medianOf(values []float64) string {
	low, high := bench.MedianWithin(values)
	return fmt.Sprintf("%s (%s to %s)", bench.Seconds(bench.Median(values)), bench.Seconds(low), bench.Seconds(high))
}

func longest(values []float64) string {
	if len(values) == 0 {
		return bench.Seconds(math.NaN())
	}
	return bench.Seconds(slices.Max(values))
}

// shareOf is the share of the values that are above 0, with its interval.
func shareOf(values []float64) string {
	hits := 0
	for _, v := range values {
		if v > 0 {
			hits++
		}
	}
	low, high := bench.Share(hits, len(values))
	return fmt.Sprintf("%d (%.0f %% to %.0f %%)", hits, low*100, high*100)
}
