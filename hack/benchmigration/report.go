package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// growth is how much more memory a migration of ten times the objects may take: by KEP-25
// the migrator holds one chunk of objects at a time. The memory of a process with the same
// work differs by about that much from one run to the next.
const growth = 1.25

// clientShare is the rate limit that kube-controller-manager gives to the client of its
// migrator, as a multiple of the limit of its other clients.
const clientShare = 20

// row is one figure of a migration.
type row struct {
	name string
	unit bench.Unit
	of   func(figures) float64
}

func rows() []row {
	return []row{
		{"objects stored in the new version in the end", bench.Count, func(f figures) float64 { return float64(f.stored) }},
		{"objects rewritten", bench.PerSecond, func(f figures) float64 { return f.rate() }},
		{"from asked for to succeeded", bench.Seconds, func(f figures) float64 { return f.took }},
		{"memory before", bench.Mebibytes, func(f figures) float64 { return float64(f.before) }},
		{mostMemory, bench.Mebibytes, peak},
	}
}

const mostMemory = "memory at most"

func peak(f figures) float64 { return float64(f.peak) }

// markdown returns the report of the measurements.
func markdown(o options, planes []bench.Plane, rounds []round) string {
	var b strings.Builder
	b.WriteString("# Migrations: the reference beside Kubernetes\n\n")
	b.WriteString(preface(o))
	for i, r := range rounds {
		fmt.Fprintf(&b, "\n## %d objects\n\n", r.objects)
		for at, f := range r.results {
			fmt.Fprintf(&b, "- %s: processors were busy for %.0f %% of the time; at rest, API server and controller manager took %.0f %% of one%s\n", planes[at].Title, f.busy*100, f.resting*100, lateness(f, r.objects, o.withinOf(o.planes[at])))
		}
		b.WriteString(r.table(o, planes, rounds[:i]).Markdown())
	}
	return b.String()
}

func lateness(f figures, n int, within time.Duration) string {
	if !math.IsInf(f.took, 0) {
		return ""
	}
	return fmt.Sprintf("; **the migration had not succeeded within %s, when %d of %d objects were left**", within, n-f.stored, n)
}

// table holds the figures of a round, and the growth of memory since the previous round.
func (r round) table(o options, planes []bench.Plane, before []round) bench.Table {
	var t bench.Table
	for i := range r.results {
		t.Columns = append(t.Columns, planes[i].Title)
	}
	if one, other := slices.Index(o.planes, referencePlane), slices.Index(o.planes, kubernetesPlane); one >= 0 && other >= 0 && max(one, other) < len(r.results) {
		t.Compared, t.Judged = &bench.Pair{One: one, Other: other}, true
	}
	for _, what := range rows() {
		add := bench.Row{Name: what.name, Unit: what.unit}
		for _, f := range r.results {
			add.Figures = append(add.Figures, what.of(f))
		}
		t.Rows = append(t.Rows, add)
	}
	if len(before) == 0 {
		return t
	}
	last := before[len(before)-1]
	add := bench.Row{Name: fmt.Sprintf("%s, times that with %d objects", mostMemory, last.objects), Unit: bench.Ratio, Goal: bench.Below(growth, bench.Ratio(growth))}
	for i, f := range r.results {
		add.Figures = append(add.Figures, peak(f)/peak(last.results[i]))
	}
	t.Rows = append(t.Rows, add)
	return t
}

func preface(o options) string {
	var objects []string
	for _, n := range o.objects {
		objects = append(objects, fmt.Sprint(n))
	}
	return fmt.Sprintf(`Repeated by

    make bench-migration OBJECTS="%s" RATE=%v WITHIN=%s KUBERNETES_WITHIN=%s WATCH_CACHE=%v KUBERNETES=%s

Machine: %s; Go %s. Measured on %s in one run, one control plane
after the other, each of one member and made anew for each number of objects.

The same small custom resources (%d bytes of content in each) are migrated from %s to %s
by the reference's controller manager and by kube-controller-manager, which has %v for its
migrator by default. Both may write %v objects a second: the reference by its setting,
Kubernetes by %v requests a second for each of its clients, of which it gives the migrator's
twenty times as many. A migration has %s, one of Kubernetes %s. An object is created at the API
server, and as many as there are to be are laid into etcd as that one lay there, with names and
UIDs of their own. The migration is asked for when the API server and the controller manager know of all of them.
%s
Each process collects its garbage before it has %.0f %% of the memory (`+"`GOMEMLIMIT`"+`).
Afterwards every object is read from etcd, and where the migration says it has succeeded, all
of them must be stored as %s.

Rewrites are counted by a watch of etcd, from the first to the last one. Memory is that of the
whole process of the controller manager (`+"`VmRSS`"+` when the migration is asked for, `+"`VmHWM`"+` from then
on), since both migrators are parts of one. Kubernetes migrates what its garbage collector's
cache holds, and that cache has the metadata of every object. A ratio is that of the two
columns. The goal for the memory is the reference's: it may not grow with the objects.
`, strings.Join(objects, " "), o.rate, o.within, o.withinOf(kubernetesPlane), !o.withoutWatchCache, o.release,
		bench.Machine(), strings.TrimPrefix(runtime.Version(), "go"), time.Now().UTC().Format(time.DateOnly),
		len(cargo), oldest, newest, kubernetesRate, o.rate, o.rate/clientShare, o.within, o.withinOf(kubernetesPlane), o.caches(), memoryShare*100, newest)
}

// caches tells whether API servers keep objects in memory, and why not.
func (o options) caches() string {
	if !o.withoutWatchCache {
		return "API servers keep objects in memory, as they do by default."
	}
	return "API servers read everything from etcd (`--watch-cache=false`): they would keep each object in memory\n" +
		"once for each of its versions, 8.4 GB for a million, and collecting the garbage of that takes a third of\n" +
		"their processors' time."
}
