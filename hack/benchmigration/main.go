// Benchmigration migrates the same objects with the same limit of writes a second by
// the reference's migrator and by that of published Kubernetes, each in a control
// plane of one member on this machine, one after the other in one run. It tells how
// many objects a second were rewritten and the most memory that the controller
// manager had. Figures are to be compared within one run only.
//
//	go run ./hack/benchmigration -objects 1000,10000
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
	"strconv"
	"strings"
	"time"
)

// Bounds of the benchmark.
const (
	// settleTimeout is how long a definition may take to be served, and to be
	// followed.
	settleTimeout = 2 * time.Minute
	// eachObject is how long an object may take to be written and to be migrated,
	// beside leastTimeout.
	eachObject   = 100 * time.Millisecond
	leastTimeout = 5 * time.Minute
	// toldTimeout is how long etcd may take to tell of what has happened.
	toldTimeout = 30 * time.Second
	// look is the pause between two looks at what is waited for.
	look = 50 * time.Millisecond
)

func main() {
	objects := flag.String("objects", "1000,10000", "how many objects there are, in runs of their own")
	plain := flag.String("planes", "reference,kubernetes", "whose migrators are measured")
	release := flag.String("release", "v1.36.3", "of Kubernetes")
	rate := flag.Float64("rate", kubernetesRate, "objects a second that the reference may write; Kubernetes has its own limit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measureAll(ctx, *objects, *plain, *release, *rate); err != nil {
		fmt.Fprintln(os.Stderr, "benchmigration:", err)
		os.Exit(1)
	}
}

// kubernetesRate is what kube-controller-manager limits its migrator to: twenty times
// its --kube-api-qps, which is 20.
const kubernetesRate = 400

func measureAll(ctx context.Context, objects, planes, release string, rate float64) error {
	var counts []int
	for _, text := range strings.Split(objects, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-objects has %q, and must be numbers such as 1000,10000", text)
		}
		counts = append(counts, n)
	}
	fmt.Println("| migrator | objects | a second while rewriting | asked to succeeded | memory before | at most | grew by |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, plane := range strings.Split(planes, ",") {
		topology, err := topologyOf(plane, release, rate)
		if err != nil {
			return err
		}
		for _, n := range counts {
			f, err := measure(ctx, topology, n)
			if err != nil {
				return fmt.Errorf("%s with %d objects: %w", plane, n, err)
			}
			fmt.Printf("| %s %s | %d | %.0f | %.1f s | %d MiB | %d MiB | %d MiB |\n", plane, topology.Spec.Release, n,
				f.rate(), f.took.Seconds(), f.before>>20, f.peak>>20, (f.peak-f.before)>>20)
		}
	}
	return nil
}
