// Detection measures what generated schedules find without any scenario written by hand: it
// plants defects of the reference one after the other, explores each with guidance and without
// until its requirement is red or the schedules are played, and makes a table of how many each
// took. The results are kept by defect, so that an interrupted series goes on where it was.
//
//	go run ./hack/detection -schedules 20 -only "CLE-*" -out _out/detection -report reports/explore.md
//
// With -table it plays nothing, and writes the table of the results that are there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/explore"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
	"github.com/evenkeel/evenkeel/pkg/run"
)

type options struct {
	topology, only, out, report string
	schedules, parallel         int
	seed                        int64
	length                      time.Duration
	table                       bool
}

func main() {
	var o options
	flag.StringVar(&o.topology, "topology", run.DefaultTopology, "the control plane, of the reference distribution")
	flag.StringVar(&o.only, "only", "*", "the defects to plant: names, or beginnings that end in *, with commas between")
	flag.IntVar(&o.schedules, "schedules", 20, "how many schedules to play at most for each defect")
	flag.IntVar(&o.parallel, "parallel", 1, "how many schedules to play side by side")
	flag.Int64Var(&o.seed, "seed", 1, "seed of the schedules; each defect has a seed of its own that follows from it")
	flag.DurationVar(&o.length, "length", explore.DefaultBudget, "how long the steps of a schedule take at most, about")
	flag.StringVar(&o.out, "out", "_out/detection", "folder for the results and the finds")
	flag.StringVar(&o.report, "report", "", "write the table between the marks of this file (default to the terminal)")
	flag.BoolVar(&o.table, "table", false, "play nothing")
	flag.Parse()
	ctx, stop := interrupt.Notify(context.Background(), nil, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := detect(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "detection:", err)
		os.Exit(1)
	}
}

func detect(ctx context.Context, o options) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("make the folder of the results: %w", err)
	}
	results := filepath.Join(o.out, "results.jsonl")
	done, err := read(results)
	if err != nil {
		return err
	}
	if !o.table {
		if done, err = play(ctx, o, results, done); err != nil {
			return err
		}
	}
	return publish(o.report, markdown(done, o.schedules))
}

// play explores each defect in both ways, unless a result is there.
func play(ctx context.Context, o options, results string, done []result) ([]result, error) {
	raw, err := clusters.Read(o.topology)
	if err != nil {
		return nil, fmt.Errorf("the topology %s cannot be read: %w", o.topology, err)
	}
	topology, err := cluster.ParseTopology(o.topology, raw)
	if err != nil {
		return nil, err
	}
	provider, err := providers.All().Check(ctx, topology, nil)
	if err != nil {
		return nil, err
	}
	defects, err := provider.Defects(ctx, topology.Spec.Distribution)
	if err != nil {
		return nil, err
	}
	for i, d := range defects {
		for _, random := range []bool{false, true} {
			has := slices.ContainsFunc(done, func(r result) bool { return r.Defect == d.ID && r.Random == random })
			if has || !chosen(o.only, d.ID) {
				continue
			}
			r, err := one(ctx, o, topology, d, random, int64(i))
			if err != nil {
				return nil, fmt.Errorf("defect %s: %w", d.ID, err)
			}
			if err := add(results, r); err != nil {
				return nil, err
			}
			done = append(done, r)
		}
	}
	return done, nil
}

func chosen(only, id string) bool {
	for _, one := range strings.Split(only, ",") {
		if prefix, begins := strings.CutSuffix(one, "*"); begins && strings.HasPrefix(id, prefix) || one == id {
			return true
		}
	}
	return false
}

// one explores a defect until its requirement is red.
func one(ctx context.Context, o options, topology *cluster.Topology, d cluster.Defect, random bool, index int64) (result, error) {
	composer, err := explore.NewComposer(ctx, providers.All(), topology, o.seed*1000+index)
	if err != nil {
		return result{}, err
	}
	composer.Budget = o.length
	how := "guided"
	if random {
		how = "random"
	}
	fmt.Printf("%s, %s\n", d.ID, how)
	runs := explore.Runs{Providers: providers.All(), Defect: d.ID}
	r := result{Defect: d.ID, Requirement: d.Requirement, Random: random}
	of := func(f explore.Find) bool { return f.Fingerprint.Requirement == d.Requirement }
	out, err := explore.Explore(ctx, explore.Options{
		Composer: composer, Random: random, Max: o.schedules, Parallel: o.parallel, Out: filepath.Join(o.out, how, d.ID),
		Play: runs.Play, Story: explore.StoryOf, Clock: clock.RealClock{}, Console: os.Stdout,
		Enough: func(s *explore.Story) bool { return slices.ContainsFunc(s.Finds, of) },
	})
	if err != nil {
		return result{}, err
	}
	r.Schedules, r.Spoilt, r.Took = out.Schedules, out.Spoilt, out.Took
	r.Found = slices.ContainsFunc(out.Finds, of)
	for _, f := range out.Finds {
		if !of(f) && !slices.Contains(r.Others, f.Fingerprint.Requirement) {
			r.Others = append(r.Others, f.Fingerprint.Requirement)
		}
	}
	if out.Schedules == 0 {
		return result{}, errors.New("no schedule was played: the folder of its results is from a series that was ended; remove it")
	}
	return r, nil
}
