// Benchdiscovery measures aggregated discovery of the reference beside that of
// published kube-apiserver: what a client's first discovery costs, how fast full
// and unchanged answers are, when a change is visible, and what memory that
// takes. Both run on this machine, one after the other at each number of CRDs.
//
//	go run ./hack/benchdiscovery -crds "0 300 3000" -duration 10s -report reports/benchmarks/discovery.md
//
// Clients, API server and etcd share the machine's processors, so the figures are
// to be compared with each other and not with those of another machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

type options struct {
	crds     []int
	duration time.Duration
	release  string
	report   string
	planes   string
	kubectl  bool
	// program is kubectl, once it is there; empty if it is not wanted.
	program string
}

func main() {
	var o options
	var crds string
	flag.StringVar(&crds, "crds", "0 300 3000", "numbers of CRDs to measure with, with spaces between them")
	flag.DurationVar(&o.duration, "duration", 10*time.Second, "how long each rate is held")
	flag.StringVar(&o.release, "kubernetes", "v1.36.3", "release of kube-apiserver to compare with; `make binaries` builds it")
	flag.StringVar(&o.report, "report", "", "file to write the tables to (default standard output)")
	flag.StringVar(&o.planes, "planes", "reference kubernetes", "what to measure; with only one there is nothing to compare, and no report")
	flag.BoolVar(&o.kubectl, "kubectl", true, "also count the requests of kubectl api-resources, of the same release; it is built where it is missing")
	flag.Parse()
	var err error
	if o.crds, err = numbers(crds); err == nil && (flag.NArg() > 0 || o.duration <= 0) {
		err = fmt.Errorf("-duration must be positive, and there are no arguments but flags")
	}
	if err == nil {
		// Clients complain of what is being measured; the report tells it better.
		bench.Silence()
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		err = measureAll(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchdiscovery:", err)
		os.Exit(1)
	}
}

func numbers(list string) ([]int, error) {
	var all []int
	for _, word := range strings.Fields(list) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("-crds: %q is no number of CRDs", word)
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("-crds names no number")
	}
	return all, nil
}

// measureAll measures all planes at each number of CRDs, and writes the report.
func measureAll(ctx context.Context, o options) error {
	planes, err := planesOf(ctx, o)
	if err != nil {
		return err
	}
	if o.kubectl {
		if o.program, err = buildKubectl(ctx, o.release); err != nil {
			return err
		}
	}
	var rounds []round
	for _, crds := range o.crds {
		r := round{crds: crds}
		for _, p := range planes {
			measured, err := measure(ctx, p, o, crds)
			if err != nil {
				return fmt.Errorf("%s with %d CRDs: %w", p.Title, crds, err)
			}
			r.results = append(r.results, measured)
		}
		rounds = append(rounds, r)
		// After each round, so that an interrupted run leaves what it has.
		if err := write(o, planes, rounds); err != nil {
			return err
		}
	}
	return nil
}

// write leaves the report of the rounds that there are, if it goes to a file, and
// prints it after the last one if not.
func write(o options, planes []bench.Plane, rounds []round) error {
	text := markdown(o, planes, rounds)
	if o.report == "" {
		if len(rounds) == len(o.crds) {
			fmt.Print(text)
		}
		return nil
	}
	return bench.WriteFile(o.report, text)
}
