// Detection measures what generated schedules find without any scenario written by hand: it
// plants defects of the reference one after the other, explores each with guidance and without
// until its requirement is red or the schedules are played, and makes a table of how many each
// took. The results are kept by defect, so that an interrupted series goes on where it was.
//
//	go run ./hack/detection -schedules 20 -only "CLE-*" -out _out/detection -report reports/explore.md
//
// With -together N defects of different KEPs are planted in one control plane, at most N at a
// time (see group.go), and the exploration goes on until all of them are found.
//
// With -table it plays nothing, and writes the table of the results that are there.
package main

import (
	"context"
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
	topology, only, out, report   string
	schedules, parallel, together int
	seed                          int64
	length                        time.Duration
	how                           string
	table                         bool
}

func main() {
	var o options
	flag.StringVar(&o.topology, "topology", run.DefaultTopology, "the control plane, of the reference distribution")
	flag.StringVar(&o.only, "only", "*", "the defects to plant: names, or beginnings that end in *, with commas between")
	flag.IntVar(&o.schedules, "schedules", 20, "how many schedules to play at most for each defect")
	flag.IntVar(&o.parallel, "parallel", 1, "how many schedules to play side by side")
	flag.IntVar(&o.together, "together", 1, "how many defects of different KEPs to plant in one control plane at most")
	flag.StringVar(&o.how, "how", "both", "explore guided, random, or both")
	flag.Int64Var(&o.seed, "seed", 1, "seed of the schedules; each group of defects has a seed of its own that follows from it")
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

// play explores each defect in the ways that are asked for, unless a result is there.
func play(ctx context.Context, o options, path string, done []result) ([]result, error) {
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
	red, err := published(publishedRed)
	if err != nil {
		return nil, err
	}
	for _, random := range []bool{false, true} {
		if o.how != "both" && o.how != way(random) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(defects), func(d cluster.Defect) bool {
			has := slices.ContainsFunc(done, func(r result) bool { return r.Defect == d.ID && r.Random == random })
			return has || !chosen(o.only, d.ID)
		})
		for _, g := range groups(missing, red, o.together) {
			index := slices.IndexFunc(defects, func(d cluster.Defect) bool { return d.ID == g[0].ID })
			results, err := one(ctx, o, topology, g, random, int64(index))
			if err != nil {
				return nil, fmt.Errorf("defects %s: %w", g, err)
			}
			if err := add(path, results); err != nil {
				return nil, err
			}
			done = append(done, results...)
		}
	}
	return done, nil
}

// way is how schedules are drawn, as folders and flags name it.
func way(random bool) string {
	if random {
		return "random"
	}
	return "guided"
}

func chosen(only, id string) bool {
	for _, one := range strings.Split(only, ",") {
		if prefix, begins := strings.CutSuffix(one, "*"); begins && strings.HasPrefix(id, prefix) || one == id {
			return true
		}
	}
	return false
}

// one explores the defects of a group until the requirements of all of them were red.
func one(ctx context.Context, o options, topology *cluster.Topology, g group, random bool, index int64) ([]result, error) {
	composer, err := explore.NewComposer(ctx, providers.All(), topology, o.seed*1000+index)
	if err != nil {
		return nil, err
	}
	composer.Budget = o.length
	fmt.Printf("%s, %s\n", g, way(random))
	folder, err := begun(filepath.Join(o.out, way(random), g[0].ID))
	if err != nil {
		return nil, err
	}
	runs := explore.Runs{Providers: providers.All(), Defect: g.String()}
	began := time.Now()
	seen := newSightings(g, random)
	out, err := explore.Explore(ctx, explore.Options{
		Composer: composer, Random: random, Max: o.schedules, Parallel: o.parallel, Out: folder,
		Play: runs.Play, Story: explore.StoryOf, Clock: clock.RealClock{}, Console: os.Stdout,
		Enough: func(s *explore.Story) bool { return seen.take(s, time.Since(began)) },
	})
	if err != nil {
		return nil, err
	}
	return seen.results(out), nil
}

// begun is a folder without what a series has left there that was ended before the result: gone on with,
// the schedules that it had played would count for nothing, and so would what they had found.
func begun(folder string) (string, error) {
	if err := os.RemoveAll(folder); err != nil {
		return "", fmt.Errorf("remove what an ended series has left: %w", err)
	}
	return folder, nil
}
