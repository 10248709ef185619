// Benchelection measures coordinated leader election of the reference beside that of
// published Kubernetes, and both beside election without coordination, where the first
// to claim a Lease leads. It measures the time to the first leader, from a leader's crash to
// the next leader, until a preferred candidate leads, and until there is another coordinator,
// and the number of writes at rest. Each of the four control planes has
// three members on this machine, one after the other in one run.
//
//	go run ./hack/benchelection -n 50 -real 10 -report reports/benchmarks/election.md
//	go run ./hack/benchelection -stops 50 -report reports/benchmarks/stops.md
//
// With -stops it measures nothing but stops of the leading controller manager in order, with
// and without release of the Lease on exit (KEP-5366).
//
// Everything is seen from outside, by watches of Leases and candidates through the API
// servers of all members; what is seen first counts.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

type options struct {
	// n and real are how often things are repeated: with instances of the libraries, and
	// with the controller managers and API servers themselves.
	n, real int
	// atOnce are how many repetitions of the first sort run at a time.
	atOnce int
	// rest is how long writes at rest are counted.
	rest    time.Duration
	release string
	planes  string
	report  string
	seed    uint64
	// stops are how often the leader is stopped in order; 0 measures everything else.
	stops int
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 50, "repetitions with instances of the libraries, each with a Lease of its own")
	flag.IntVar(&o.real, "real", 10, "repetitions with the controller managers and API servers themselves")
	flag.IntVar(&o.atOnce, "at-once", 10, "how many of the first repetitions run at a time")
	flag.DurationVar(&o.rest, "rest", 5*time.Minute, "how long writes at rest are counted; candidates renew every five minutes")
	flag.StringVar(&o.release, "kubernetes", "v1.36.3", "release of Kubernetes to compare with; `make binaries` builds it")
	flag.StringVar(&o.planes, "planes", "", "what to measure, with spaces between them (default all)")
	flag.StringVar(&o.report, "report", "", "file to write the tables to (default standard output)")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the moments at which things are done")
	flag.IntVar(&o.stops, "stops", 0, "measure nothing but so many stops of the leading controller manager in order, in each of -planes")
	flag.Parse()
	all := names
	if o.stops > 0 {
		all = stopColumns
	}
	o.planes = cmp.Or(o.planes, strings.Join(all, " "))
	if flag.NArg() > 0 || o.n < 1 || o.real < 1 || o.atOnce < 1 || o.rest <= 0 || o.stops < 0 {
		fmt.Fprintln(os.Stderr, "benchelection: -n, -real, -at-once and -rest must be positive, and there are no arguments but flags")
		os.Exit(exit.CouldNotRun)
	}
	bench.Silence()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	do := measureAll
	if o.stops > 0 {
		do = stopAll
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchelection:", err)
		os.Exit(exit.CouldNotRun)
	}
}

// measureAll measures one control plane after the other, and writes the report after
// each, so that an interrupted run leaves what it has.
func measureAll(ctx context.Context, o options) error {
	columns, err := columnsOf(ctx, o)
	if err != nil {
		return err
	}
	var results []result
	for _, c := range columns {
		r, err := measure(ctx, c, o)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Title, err)
		}
		results = append(results, r)
		text := markdown(o, columns[:len(results)], results)
		switch {
		case o.report != "":
			if err := bench.WriteFile(o.report, text); err != nil {
				return err
			}
		case len(results) == len(columns):
			fmt.Print(text)
		}
	}
	return nil
}
