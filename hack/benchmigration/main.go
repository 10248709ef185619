// Benchmigration migrates the same objects with the same limit of writes a second by
// the reference's migrator and by that of published Kubernetes, each in a control
// plane of one member on this machine, one after the other in one run. It tells how
// many objects a second were rewritten and the most memory that the controller
// manager had. Figures are to be compared within one run only.
//
//	go run ./hack/benchmigration -objects "1000 10000" -report reports/benchmarks/migration.md
//
// The reference's binary is found as evenkeel does it; Kubernetes must have been
// built by `make binaries RELEASES=v1.36.3`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

// Bounds of the benchmark.
const (
	// settleTimeout is how long a definition may take to be served, and to be
	// followed.
	settleTimeout = 2 * time.Minute
	// quietFor is for how long the API server and the controller manager have to be at
	// rest to know of all objects: Kubernetes' garbage collector, by whose cache its
	// migrator goes, looks for new resources every thirty seconds, and reads them then.
	// quietBound is how long that may take. The benchmark measures a control plane that is
	// not at rest by then all the same.
	quietFor   = 45 * time.Second
	quietBound = 15 * time.Minute
	// eachObject is how long the benchmark may take to write and read one object, in
	// addition to leastTimeout and the time of the migration.
	eachObject   = 10 * time.Millisecond
	leastTimeout = 5 * time.Minute
	// toldTimeout is how long etcd may take to send watch events.
	toldTimeout = 30 * time.Second
	// memoryShare is the share of the machine's memory at which a process collects its
	// garbage.
	memoryShare = 0.6
	// look is the pause between two polls of a condition.
	look = 50 * time.Millisecond
	// progressEvery is the pause between two progress messages of a migration.
	progressEvery = time.Minute
)

type options struct {
	// objects are the numbers of objects to migrate, one round for each, smallest first.
	objects []int
	planes  []string
	release string
	// rate is how many objects a second each migrator may write.
	rate float64
	// within is how long a migration may take. The remaining objects count as not migrated.
	within time.Duration
	// kubernetesWithin is a shorter limit for Kubernetes: its rate is known long before
	// it has migrated a million objects.
	kubernetesWithin time.Duration
	// withoutWatchCache turns the watch cache of the API servers off. With it, an API
	// server keeps each object once for each served version, and with a million objects
	// garbage collection takes a third of the processors.
	withoutWatchCache bool
	report            string
}

// withinOf is how long a migration of a plane may take.
func (o options) withinOf(plane string) time.Duration {
	if plane == kubernetesPlane && o.kubernetesWithin > 0 {
		return o.kubernetesWithin
	}
	return o.within
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmigration:", err)
		os.Exit(exit.CouldNotRun)
	}
	if err := limitMemory(); err != nil {
		fmt.Fprintln(os.Stderr, "benchmigration:", err)
		os.Exit(exit.CouldNotRun)
	}
	bench.Silence()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := measureAll(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchmigration:", err)
		os.Exit(exit.CouldNotRun)
	}
}

// limitMemory makes every process that the benchmark starts collect its garbage before it
// has memoryShare of the machine's memory. Without the limit, an API server with a million
// objects takes all of the memory, half of it for garbage.
func limitMemory() error {
	total, err := bench.Memory()
	if err != nil {
		return fmt.Errorf("find out how much memory there is: %w", err)
	}
	return os.Setenv("GOMEMLIMIT", strconv.FormatInt(int64(float64(total)*memoryShare), 10))
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("benchmigration", flag.ExitOnError)
	objects := flags.String("objects", "1000 10000", "how many objects there are, in rounds of their own")
	planes := flags.String("planes", "kubernetes reference", "whose migrators are measured, with spaces between them")
	flags.StringVar(&o.release, "kubernetes", "v1.36.3", "release of Kubernetes to compare with; `make binaries` builds it")
	flags.Float64Var(&o.rate, "rate", kubernetesRate, "objects a second that each may write")
	flags.DurationVar(&o.within, "within", time.Hour, "how long a migration may take; after that it is told how far it came")
	flags.DurationVar(&o.kubernetesWithin, "kubernetes-within", 0, "how long one of Kubernetes may take (default what -within says)")
	watchCache := flags.Bool("watch-cache", true, "have API servers keep objects in memory, as they do by default")
	flags.StringVar(&o.report, "report", "", "file to write the tables to (default standard output)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for _, text := range strings.Fields(*objects) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-objects has %q, and must be numbers such as 1000 10000", text)
		}
		o.objects = append(o.objects, n)
	}
	slices.Sort(o.objects)
	o.withoutWatchCache = !*watchCache
	o.planes = strings.Fields(*planes)
	if len(o.objects) == 0 || len(o.planes) == 0 || !(o.rate > 0) || o.within <= 0 || o.kubernetesWithin < 0 || flags.NArg() > 0 {
		return o, fmt.Errorf("-objects and -planes name one at least, -rate, -within and -kubernetes-within are positive, and there are no arguments but flags")
	}
	return o, nil
}

// kubernetesRate is what kube-controller-manager limits its migrator to by default.
const kubernetesRate = 400

// round holds the figures of each measured plane for one number of objects.
type round struct {
	objects int
	results []figures
}

// measureAll measures round after round. It writes the report after each measurement, so
// that an interrupted run leaves a report of the measurements so far.
func measureAll(ctx context.Context, o options) error {
	planes, err := planesOf(o)
	if err != nil {
		return err
	}
	if err := bench.Check(ctx, planes); err != nil {
		return err
	}
	var rounds []round
	for _, n := range o.objects {
		rounds = append(rounds, round{objects: n})
		now := &rounds[len(rounds)-1]
		for i, p := range planes {
			f, err := measure(ctx, p, n, o.withinOf(o.planes[i]))
			if err != nil {
				return fmt.Errorf("%s with %d objects: %w", p.Title, n, err)
			}
			now.results = append(now.results, f)
			if o.report == "" {
				continue
			}
			if err := bench.WriteFile(o.report, markdown(o, planes, rounds)); err != nil {
				return err
			}
		}
	}
	if o.report == "" {
		fmt.Print(markdown(o, planes, rounds))
	}
	return nil
}
