// Survey plays scenarios on one target, as often as asked, and writes down what
// came of each requirement: in a file for the target, and in a table of all
// targets. `make soak` is a survey of the reference, RUNS times over.
//
//	go run ./hack/survey -target local-reference -title "the reference, local" -runs 10
//	go run ./hack/survey -target local-kubernetes-v1.36.3 -title "Kubernetes v1.36.3 → v1.37.1, local" \
//	    -topology clusters/local-3-kubernetes.yaml -release v1.36.3
//
// With -add it plays only what is missing to -runs: earlier runs that the same checks
// have judged are kept, so that a long survey can be made in several parts.
//
// With -again it plays nothing: it judges the bundles below -out anew, which -keep has
// left there, for when a check has changed and not what it judges. Bundles of runs that
// were not clean are kept in any case. The exit status is
// that of the worst run: 1 where something was red, 2 where something stayed open,
// 3 where a run left no report for any other reason than that the scenario was
// refused.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/hack/internal/play"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/results"
	"github.com/evenkeel/evenkeel/pkg/scenario"
	"github.com/evenkeel/evenkeel/pkg/site"
)

type options struct {
	evenkeel, target, title, topology, release, scenarios, results, out string
	runs, parallel                                                      int
	add, keep, again                                                    bool
}

// run is what came of one play of a scenario.
type run struct {
	report  *report.ConformanceReport
	seconds int
	// refused is what evenkeel said where it would not play the scenario at all.
	refused string
}

func main() {
	var o options
	flag.StringVar(&o.evenkeel, "evenkeel", "bin/evenkeel", "the harness")
	flag.StringVar(&o.target, "target", "local-reference", "the file's name in the results folder, without .yaml")
	flag.StringVar(&o.title, "title", "", "the heading of the target's column (default the one that it has, or its name)")
	flag.StringVar(&o.topology, "topology", "", "the control plane to bring up (default the one that the target's file names, or clusters/local-3.yaml)")
	flag.StringVar(&o.release, "release", "", "release that all members begin at (default the one that the target's file names, or the topology's)")
	flag.StringVar(&o.scenarios, "scenarios", "", "names of scenarios, with spaces between them (default all)")
	flag.StringVar(&o.results, "results", "reports", "the folder of results.md and results/")
	flag.StringVar(&o.out, "out", "_out/survey", "where bundles go")
	flag.IntVar(&o.runs, "runs", 1, "how often to play each scenario")
	flag.BoolVar(&o.add, "add", false, "play only what is missing to -runs, and add it to earlier runs that the same checks have judged")
	flag.BoolVar(&o.keep, "keep", false, "keep the bundles of clean runs too")
	flag.BoolVar(&o.again, "again", false, "judge the bundles that were kept anew, and play nothing")
	flag.IntVar(&o.parallel, "parallel", 1, "how many runs at a time")
	flag.Parse()
	if flag.NArg() > 0 || o.target == "" || o.runs < 1 || o.parallel < 1 {
		fmt.Fprintln(os.Stderr, "survey: name a target (TARGET), at least one run, one at a time, and nothing but flags; see -help")
		os.Exit(exit.CouldNotRun)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	code, err := survey(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		code = exit.CouldNotRun
	}
	os.Exit(code)
}

func survey(ctx context.Context, o options) (int, error) {
	names, err := scenarios(o.scenarios)
	if err != nil {
		return 0, err
	}
	file := filepath.Join(o.results, "results", o.target+".yaml")
	t, err := results.Load(file)
	if err != nil {
		return 0, err
	}
	if err := settle(t, &o); err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case o.title != "":
		t.Target = o.title
	case t.Target == "":
		t.Target = o.target
	}
	checks, err := play.Checks(play.Judges)
	if err != nil {
		return 0, err
	}
	var all []*results.Scenario
	if o.again {
		return again(ctx, o, t, names, checks)
	}
	for _, name := range names {
		all = append(all, t.Begin(name, checks, o.add))
	}
	if err := cluster.ShareCPUs(o.parallel); err != nil {
		return 0, err
	}
	var group errgroup.Group
	group.SetLimit(o.parallel)
	var mu sync.Mutex
	for n := range o.runs {
		for _, p := range all {
			if n < p.Earlier || ctx.Err() != nil {
				continue
			}
			group.Go(func() error {
				r, err := once(ctx, o, p.Name, n+1)
				if err != nil {
					fmt.Println(err)
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if r.refused != "" {
					p.Refused = r.refused
				} else {
					p.Add(r.report, r.seconds)
				}
				// After each run, so that an interrupted survey keeps what it has.
				t.Replace(*p)
				return t.Save(file)
			})
		}
	}
	// What could be played is worth its place in the table, whatever else could not.
	err = errors.Join(group.Wait(), table(ctx, o.results))
	worst := exit.Pass
	for _, p := range all {
		worst = worse(worst, status(p))
	}
	return worst, err
}

// scenarios are those that were named, or all.
func scenarios(named string) ([]string, error) {
	if names := strings.Fields(named); len(names) > 0 {
		return names, nil
	}
	files, err := filepath.Glob("fixtures/scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		return nil, errors.New("there are no scenarios in fixtures/scenarios: start it in the root of the repository")
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	return names, nil
}

// once plays a scenario one time. A run that left no report is an error, unless
// evenkeel refused to play it here.
func once(ctx context.Context, o options, name string, n int) (run, error) {
	dir := filepath.Join(o.out, o.target, fmt.Sprintf("%s-%d", name, n))
	file := filepath.Join("fixtures/scenarios", name+".yaml")
	played, err := scenario.Load(file)
	if err != nil {
		return run{}, err
	}
	// No scenario judges all of a profile; what it cannot judge is another's.
	focus := "^(" + strings.Join(played.Judges, "|") + ")$"
	args := []string{"--topology", o.topology, "--scenario", file, "--focus", focus, "--seed", fmt.Sprint(n)}
	if o.release != "" {
		args = append(args, "--release", o.release)
	}
	out, err := play.Run(ctx, o.evenkeel, dir, args...)
	if ctx.Err() != nil {
		// It is not counted, and would be when bundles are judged again.
		err = errors.Join(err, os.RemoveAll(dir))
	}
	r := run{report: out.Report, seconds: int(out.Took.Seconds())}
	switch {
	case out.Status == exit.CouldNotRun && strings.Contains(out.Said, cluster.ErrUnsupported.Error()):
		r.refused = out.Said
		fmt.Printf("%-24s run %d: refused: %s\n", name, n, r.refused)
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%s, run %d: %w", name, n, err)
	case out.Status == exit.CouldNotRun:
		return r, fmt.Errorf("%s, run %d, could not be played, which says nothing of the control plane: %s", name, n, out.Said)
	}
	fmt.Printf("%-24s run %d: %s after %d s%s\n", name, n, r.report.Verdict, r.seconds, notClean(r.report))
	if r.report.Verdict == check.Pass && !o.keep {
		if err := os.RemoveAll(dir); err != nil {
			return r, fmt.Errorf("remove the bundle of a clean run: %w", err)
		}
	}
	return r, nil
}

// notClean names what was red or open, with the first reason.
func notClean(rep *report.ConformanceReport) string {
	var b strings.Builder
	for _, res := range rep.Results {
		if res.Verdict == check.Fail || res.Verdict == check.Inconclusive {
			fmt.Fprintf(&b, "\n    %s %s: %s", res.ID, res.Verdict, results.Reason(res))
		}
	}
	for _, id := range rep.NotJudged {
		fmt.Fprintf(&b, "\n    %s was not judged", id)
	}
	return b.String()
}

// worse of two statuses: what was broken outweighs what stayed open.
func worse(a, b int) int {
	rank := map[int]int{exit.Pass: 0, exit.Inconclusive: 1, exit.Fail: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// table writes results.md anew, of all that the folder has.
func table(ctx context.Context, folder string) error {
	m, err := site.Read(ctx, folder)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, site.TableFile), []byte(m.Markdown()), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// status is what evenkeel ended with in the worst run of a scenario.
func status(p *results.Scenario) int {
	switch {
	case p.Clean == p.Runs:
		return exit.Pass
	case slices.ContainsFunc(p.Results, func(o results.Outcome) bool { return o.Verdicts[check.Fail] > 0 }):
		return exit.Fail
	default:
		return exit.Inconclusive
	}
}

// settle makes the options and the target say the same of the control plane: the target
// is of one, and its rows would be repeated with another. What the options leave open is
// as the target has it.
func settle(t *results.Target, o *options) error {
	if t.Topology == "" {
		t.Topology, t.Release = cmp.Or(o.topology, "clusters/local-3.yaml"), o.release
	}
	if o.topology != "" && o.topology != t.Topology {
		return fmt.Errorf("its rows are of %s and not of %s; name another -target", t.Topology, o.topology)
	}
	if o.release != "" && o.release != t.Release {
		return fmt.Errorf("its rows begin at release %q and not at %q; name another -target", t.Release, o.release)
	}
	o.topology, o.release = t.Topology, t.Release
	return nil
}
