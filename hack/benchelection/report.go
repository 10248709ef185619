package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// markdown writes the report of the columns that were measured. Goals are judged where
// the reference and Kubernetes are both there with a coordinator.
func markdown(o options, columns []column, results []result) string {
	var b strings.Builder
	b.WriteString("# Coordinated leader election: the reference beside Kubernetes\n\n")
	b.WriteString(preface(o, columns[0].timing))
	for i, r := range results {
		fmt.Fprintf(&b, "\n- %s: %s", columns[i].Title, circumstances(o, r))
	}
	b.WriteString("\n")
	for _, t := range tables() {
		b.WriteString(t.whole(columns, results).Markdown())
	}
	return b.String()
}

// whole is a part of the report with its figures.
func (t table) whole(columns []column, results []result) bench.Table {
	out := bench.Table{Title: t.title, Judged: true}
	index := func(name string) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	}
	if one, other := index(ours), index(theirs); one >= 0 && other >= 0 {
		out.Compared = &bench.Pair{One: one, Other: other}
	}
	for _, c := range columns {
		out.Columns = append(out.Columns, c.Title)
	}
	for _, row := range t.rows {
		figures := bench.Row{Name: row.name, Unit: row.unit, Goal: row.goal}
		for _, r := range results {
			figures.Figures = append(figures.Figures, row.of(r))
		}
		out.Rows = append(out.Rows, figures)
	}
	return out
}

func circumstances(o options, r result) string {
	quiet := "nothing of an election was seen"
	if !r.writes.quiet {
		quiet = "**elections never came to an end**"
	}
	return fmt.Sprintf("processors were busy for %.0f %% of the time; %s for %s before writes at rest were counted, over %s", r.busy*100, quiet, quietFor, o.rest)
}

func preface(o options, t timing) string {
	return fmt.Sprintf(`Repeated by

    make bench-election N=%d REAL=%d REST=%s KUBERNETES=%s

Machine: %s; Go %s. Measured on %s in one run, one control plane after
the other. Each has three members, as processes of this machine, with Leases of %s that are
renewed every %s and given up after %s without a renewal, and candidates beside.

Everything is seen from outside, by watches of Leases and candidates through the API
servers of all members. An instance leads from its first observed renewal of the Lease on;
a coordinator names the instance before that. The ratio and the goals compare the two
columns with a coordinator. ∞ is what did not come about within %s,
and – what there is not.

**Controller managers** (%d times each) are those of the control plane, and the crash is a
SIGKILL. Before each first leader all of them were stopped, their Lease and candidates
deleted, and one was started. The one that is better, by an older version, is an instance
of the library that takes part in the same Lease; the leader that gives way is a
controller manager. Candidates of processes that have ended are deleted after each
repetition, which Kubernetes does after half an hour only: it would wait for their answers.

**Instances of the library** (%d times each, up to %d at once, with a Lease of three
candidates each) run in the benchmark: those of the reference's library, and of the
client-go that this was built with. A crash ends all their requests, so that nothing is
released. A leader that gives way to a preferred candidate and stops releases the Lease, as
kube-scheduler does with client-go; kube-controller-manager lets it expire.

Candidates of one Lease stand more than a second apart, since Kubernetes does not order
those of the same second.

**API servers** (%d times each): the one that coordinates gets a SIGKILL, and at the same
time three instances become candidates for a new Lease without an earlier holder.

**Writes at rest** are counted in etcd, with three candidates for each of three Leases: the
components' own, filled up with instances of the library. Identity Leases of API servers
are not counted. Goals are judged to the last digit; a count over that time is exact to one
write for each of the Leases.
`, o.n, o.real, o.rest, o.release, bench.Machine(), strings.TrimPrefix(runtime.Version(), "go"), time.Now().UTC().Format(time.DateOnly),
		t.lease, t.retry, t.deadline, electionBound, o.real, o.n, o.atOnce, o.real)
}
