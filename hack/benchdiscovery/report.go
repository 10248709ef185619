package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// markdown writes the report of all rounds. Goals are judged at the greatest
// number of CRDs, which they were set for.
func markdown(o options, planes []bench.Plane, rounds []round) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Aggregated discovery: %s\n\n", strings.Join(titles(planes), " beside "))
	b.WriteString(preface(o))
	most := slices.Max(o.crds)
	rounds = slices.SortedFunc(slices.Values(rounds), func(a, b round) int { return cmp.Compare(a.crds, b.crds) })
	for _, r := range rounds {
		fmt.Fprintf(&b, "\n## %d CRDs\n\n", r.crds)
		for i, p := range planes {
			fmt.Fprintf(&b, "- %s: %s\n", p.Title, circumstances(r.results[i]))
		}
		for _, t := range tables() {
			b.WriteString(t.whole(planes, r, r.crds == most).Markdown())
		}
		writeClients(&b, planes, r)
	}
	return b.String()
}

func titles(planes []bench.Plane) []string {
	var all []string
	for _, p := range planes {
		all = append(all, p.Title)
	}
	return all
}

func preface(o options) string {
	return fmt.Sprintf(`Repeated by

    %s

Machine: %s; Go %s. Measured on %s in one run. Each API server had
its own etcd, controllers of its member and the clients beside it on these processors, and was
brought up anew for each number of CRDs. Clients are administrators, talk TLS and
HTTP/2 as client-go does, and have no limits of their own. %d CRDs share a group, every third
group has two versions.

A cold discovery is client-go's cached discovery over new connections, the
median of %d; bytes are counted below TLS, handshake included. Answers are timed at
%d requests a second for %s, from when each was due, over %d connections, and without pause for
%s each by one and by up to %d clients. A change counts from the request that makes it until a client that accepts
gzip and asks every %s has the answer that tells of it, %d times.
`, command(o), bench.Machine(), strings.TrimPrefix(runtime.Version(), "go"), time.Now().UTC().Format(time.DateOnly),
		kindsPerGroup, coldRuns, pacedRate, pacedLonger*o.duration, connections, o.duration/flatOutShorter, slices.Max(concurrencies), changePoll, changeRuns)
}

// command is what was called, but for where the report goes.
func command(o options) string {
	var crds []string
	for _, n := range o.crds {
		crds = append(crds, fmt.Sprint(n))
	}
	return fmt.Sprintf("make bench-discovery CRDS=%q DURATION=%s KUBERNETES=%s", strings.Join(crds, " "), o.duration, o.release)
}

func circumstances(m result) string {
	return fmt.Sprintf("%d resources in %d group-versions; before the measurements it took %.0f %% of one processor; during them others took %.0f %% of all",
		m.told.resources, m.told.versions, m.restingShare*100, m.others*100)
}

// whole is a part of the report with the figures of a round. With two planes they are
// compared.
func (t table) whole(planes []bench.Plane, r round, judged bool) bench.Table {
	out := bench.Table{Title: t.title, Columns: titles(planes), Judged: judged}
	if len(r.results) == 2 {
		out.Compared = &bench.Pair{One: 0, Other: 1}
	}
	for _, row := range t.rows {
		figures := bench.Row{Name: row.name, Unit: row.unit, Goal: row.goal}
		for _, m := range r.results {
			figures.Figures = append(figures.Figures, row.of(m))
		}
		out.Rows = append(out.Rows, figures)
	}
	return out
}

// writeClients tells what clients of everyday use asked for.
func writeClients(b *strings.Builder, planes []bench.Plane, r round) {
	header := append([]string{"Requests that a client needs"}, titles(planes)...)
	fmt.Fprintf(b, "\n| %s |\n%s\n", strings.Join(header, " | "), strings.Repeat("|---", len(header))+"|")
	for i, client := range r.results[0].clients {
		cells := []string{client.what}
		for _, m := range r.results {
			requests := m.clients[i].requests
			cells = append(cells, fmt.Sprintf("%d: %s", len(requests), strings.Join(requests, ", ")))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}
