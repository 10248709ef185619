// Mutation proves that the checks can fail: it plants each defect of the
// reference, runs what can judge the requirement that the defect breaks, and
// demands a red verdict on that row. What else of the scenario's requirements turned
// red with it is judged from the same history. The results are kept by defect, so
// that an interrupted run loses nothing, and made into a table.
//
//	go run ./hack/mutation -evenkeel bin/evenkeel -refplane bin/refplane -out _out/mutation
//
// With -results reports they are published; -tries N plays a defect that was not
// found up to N times, and the table says how many runs each needed; a run that a starved
// machine left open is played again and is no try, twice at most. With -unproven it
// leaves out those that the checks of now have found already, so that a long table can be
// made in several parts. With -sample N it plays N defects only, chosen by -commit, so
// that CI covers all of them over time and the same commit always plays the same ones.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/hack/internal/play"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	harness "github.com/evenkeel/evenkeel/pkg/run"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

type options struct {
	evenkeel, refplane, out, results, commit, only string
	sample, parallel, tries                        int
	unproven, again                                bool
}

func main() {
	var o options
	flag.StringVar(&o.evenkeel, "evenkeel", "bin/evenkeel", "the harness")
	flag.StringVar(&o.refplane, "refplane", "bin/refplane", "the reference control plane")
	flag.StringVar(&o.out, "out", "_out/mutation", "where the bundles go; emptied first")
	flag.StringVar(&o.results, "results", "", "the folder of mutation.yaml and mutation.md (default that of the bundles)")
	flag.StringVar(&o.commit, "commit", "", "what the sample is derived from")
	flag.StringVar(&o.only, "only", "", "play only this defect, or those whose names begin so and end in *")
	flag.BoolVar(&o.unproven, "unproven", false, "play only defects of which the results do not say yet that the checks of now found them")
	flag.BoolVar(&o.again, "again", false, "judge the bundles that are in -out anew, and play nothing")
	flag.IntVar(&o.sample, "sample", 0, "how many defects to play; 0 means all")
	flag.IntVar(&o.parallel, "parallel", 1, "how many runs at a time")
	flag.IntVar(&o.tries, "tries", 1, "how often to play a defect that was not found")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := mutate(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func mutate(ctx context.Context, o options) error {
	all, err := list(o.refplane)
	if err != nil {
		return err
	}
	defects, left := judged(all)
	if len(left) > 0 {
		// Said aloud, so that a check that went missing does not take its defects along.
		fmt.Printf("left out, since no check judges what they break: %s\n", strings.Join(left, ", "))
	}
	if err := prepareFolders(&o); err != nil {
		return err
	}
	checks, err := play.Checks(play.Judges)
	if err != nil {
		return err
	}
	known, err := load(o.results)
	if err != nil {
		return err
	}
	known.keepOnly(defects)
	if defects, err = wanted(defects, known, checks, o); err != nil {
		return err
	}
	if o.unproven && len(defects) == 0 {
		fmt.Println("the results say of all of them that the checks of now found them; the table is written anew")
		return known.save(o.results)
	}
	if len(defects) == 0 {
		return errors.New("there is no defect to play")
	}
	return playAll(ctx, defects, known, checks, o)
}

// prepareFolders empties the output folder, unless its bundles are to be judged again, and
// has the results go there where no other folder is named.
func prepareFolders(o *options) error {
	if !o.again {
		if err := os.RemoveAll(o.out); err != nil {
			return fmt.Errorf("empty the output folder: %w", err)
		}
	}
	o.results = cmp.Or(o.results, o.out)
	return nil
}

// wanted are the defects that the options ask for: with -unproven those that the checks of
// now have not found yet, and with -sample some of those that are published as found.
func wanted(defects []cluster.Defect, known *record, checks string, o options) ([]cluster.Defect, error) {
	if o.unproven {
		defects = slices.DeleteFunc(defects, func(d cluster.Defect) bool { return known.found(d.ID, checks) })
	}
	if o.sample > 0 {
		published, err := load(publishedFolder)
		if err != nil {
			return nil, err
		}
		defects = published.proven(defects)
	}
	return choose(defects, o), nil
}

// playAll plays each defect, saves each result as it comes, and returns an error where a
// defect was not found.
func playAll(ctx context.Context, defects []cluster.Defect, known *record, checks string, o options) error {
	var told sync.Mutex
	missed, done := 0, 0
	if err := cluster.ShareCPUs(o.parallel); err != nil {
		return err
	}
	var runs errgroup.Group
	runs.SetLimit(max(o.parallel, 1))
	for _, d := range defects {
		runs.Go(func() error {
			r := run(ctx, o, d)
			told.Lock()
			defer told.Unlock()
			done++
			if ctx.Err() != nil {
				// It says nothing of the defect.
				return errors.New("interrupted")
			}
			verdict := "found"
			if r.Fault != "" {
				missed++
				verdict = "MISSED: " + r.Fault
			}
			fmt.Printf("%2d/%d %-28s red %v, %d s: %s\n", done, len(defects), d.ID, r.Red, r.Seconds, verdict)
			r.Checks = checks
			if before, there := known.at(d.ID); o.again && there {
				r.Seconds = known.Defects[before].Seconds // as it was measured when it was played
			}
			known.replace(r)
			return known.save(o.results)
		})
	}
	if err := runs.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d passed, %d failed; see %s\n", len(defects)-missed, missed, filepath.Join(o.results, tableFile))
	if missed > 0 {
		return fmt.Errorf("%d of %d defects were not found", missed, len(defects))
	}
	return nil
}

// list asks the reference for its defects.
func list(refplane string) ([]cluster.Defect, error) {
	out, err := exec.Command(refplane, "defects", "-o", "json").Output()
	if err != nil {
		return nil, fmt.Errorf("list the defects with %s: %w", refplane, err)
	}
	var all []cluster.Defect
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("read the list of defects: %w", err)
	}
	return all, nil
}

// judged parts the defects into those whose requirement has a check, and the
// names of the others.
func judged(all []cluster.Defect) (defects []cluster.Defect, left []string) {
	for _, d := range all {
		if check.Built(requirement.ID(d.Requirement)) {
			defects = append(defects, d)
		} else {
			left = append(left, d.ID)
		}
	}
	return defects, left
}

// choose the defects to play.
func choose(defects []cluster.Defect, o options) []cluster.Defect {
	defects = slices.Clone(defects)
	if prefix, several := strings.CutSuffix(o.only, "*"); o.only != "" {
		return slices.DeleteFunc(defects, func(d cluster.Defect) bool {
			return d.ID != o.only && !(several && strings.HasPrefix(d.ID, prefix))
		})
	}
	if o.sample <= 0 || o.sample >= len(defects) {
		return defects
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(o.commit)) // a hash never returns an error
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	random.Shuffle(len(defects), func(i, j int) { defects[i], defects[j] = defects[j], defects[i] })
	var drawn []cluster.Defect
	for _, d := range defects {
		if len(drawn) < o.sample && !long(d) {
			drawn = append(drawn, d)
		}
	}
	return drawn
}

// publishedFolder has the published results. A sample is drawn of the defects that these
// say were found: what has not been played yet is not for CI to find out.
const publishedFolder = "reports"

// sampledBelow is what a scenario may cost to be drawn for a sample: CI has forty
// minutes for all that it does.
const sampledBelow = 4 * time.Minute

// long is whether the scenario that finds a defect takes too long for a sample.
func long(d cluster.Defect) bool { return costOf(d.Requirement) > sampledBelow }

// costs are those of the scenarios that judge a requirement, each found out once: it
// takes reading all scenarios.
var costs sync.Map

func costOf(requirement string) time.Duration {
	if known, ok := costs.Load(requirement); ok {
		return known.(time.Duration)
	}
	cost := time.Duration(0)
	if file, found := harness.Cheapest([]string{requirement}); found {
		if s, err := scenario.LoadFS(fixtures.Files, strings.TrimPrefix(file, "fixtures/")); err == nil {
			cost = s.Cost()
		}
	}
	costs.Store(requirement, cost)
	return cost
}
