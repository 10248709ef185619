// Skew answers what KEP-4355 says of upgrades and rollbacks that go member by
// member: how likely it is that a leader is newer than an API server that runs. It
// enumerates all orders and hand-overs, by the reference's own decisions, and, with
// -runs, plays that on three members and counts.
//
//	go run ./hack/skew
//	go run ./hack/skew -runs 30
//
// The table goes to reports/skew.md, what was played to reports/skew.yaml beside it,
// which later runs add to.
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
	flag.StringVar(&o.out, "out", "_out/skew", "where bundles go while they are looked at")
	flag.StringVar(&o.results, "results", "reports", "the folder of skew.md and skew.yaml")
	flag.IntVar(&o.runs, "runs", 0, "how often to play each cell of the table; 0 plays nothing")
	flag.IntVar(&o.parallel, "parallel", 1, "how many runs at a time")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the orders in which members are replaced")
	flag.Parse()
	if flag.NArg() > 0 || o.runs < 0 || o.parallel < 1 {
		fmt.Fprintln(os.Stderr, "skew: runs are not negative, one at a time at least, and all else is flags; see -help")
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
