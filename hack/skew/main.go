// Skew checks what KEP-4355 says of upgrades and rollbacks that replace one member after
// the other: how likely it is that a leader is newer than a running API server. It
// enumerates all orders and hand-overs, by the reference's own decisions. With -runs it
// also runs such rollouts on three members, and counts the violations.
//
//	go run ./hack/skew
//	go run ./hack/skew -runs 30
//
// It writes the table to reports/skew.md, and the recorded runs to reports/skew.yaml
// beside it, to which later runs add.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/exit"
)

type options struct {
	evenkeel, out, results string
	runs, parallel         int
	seed                   uint64
}

func main() {
	var o options
	flag.StringVar(&o.evenkeel, "evenkeel", "bin/evenkeel", "the harness")
	flag.StringVar(&o.out, "out", "_out/skew", "folder for bundles until they are evaluated")
	flag.StringVar(&o.results, "results", "reports", "the folder of skew.md and skew.yaml")
	flag.IntVar(&o.runs, "runs", 0, "number of runs for each cell of the table; 0 starts none")
	flag.IntVar(&o.parallel, "parallel", 1, "number of runs at a time")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the order in which members are replaced")
	flag.Parse()
	if flag.NArg() > 0 || o.runs < 0 || o.parallel < 1 {
		fmt.Fprintln(os.Stderr, "skew: -runs must not be negative, -parallel must be positive, and there are no arguments except flags; see -help")
		os.Exit(exit.CouldNotRun)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := skew(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "skew:", err)
		os.Exit(exit.CouldNotRun)
	}
}

func skew(ctx context.Context, o options) error {
	file := filepath.Join(o.results, "skew.yaml")
	m, err := load(file)
	if err != nil {
		return err
	}
	if o.runs > 0 {
		if err := measure(ctx, o, m, func() error { return m.save(file) }); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(o.results, "skew.md"), []byte(markdown(m)), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
