package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/evenkeel/evenkeel/hack/internal/play"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report/results"
)

// again writes the rows of scenarios anew, from all bundles of them that were kept. It gives
// the exit status of the worst.
func again(ctx context.Context, o options, t *results.Target, names []string, checks string) (int, error) {
	worst := exit.Pass
	for _, name := range names {
		dirs, err := filepath.Glob(filepath.Join(o.out, o.target, name+"-[0-9]*"))
		if err != nil {
			return 0, fmt.Errorf("look for bundles of %s: %w", name, err)
		}
		dirs = slices.DeleteFunc(dirs, func(dir string) bool {
			info, err := os.Stat(dir)
			return err != nil || !info.IsDir()
		})
		if len(dirs) == 0 {
			fmt.Printf("%-24s no bundle was kept, so its row stays as it is\n", name)
			continue
		}
		p := t.Begin(name, checks, false)
		for _, dir := range dirs {
			out, err := play.Judge(ctx, o.evenkeel, dir)
			switch {
			case errors.Is(err, play.ErrNoReport):
				// That run did not come to its end.
				fmt.Printf("%-24s %s was cut short\n", name, filepath.Base(dir))
				continue
			case err != nil:
				return 0, fmt.Errorf("%s: %w", filepath.Base(dir), err)
			}
			fmt.Printf("%-24s %s: %s%s\n", name, filepath.Base(dir), out.Report.Verdict, notClean(out.Report))
			p.Add(out.Report, 0)
		}
		// How long they took was measured when they were played.
		p.Seconds = t.SecondsOf(name, p.Runs)
		t.Replace(*p)
		worst = worse(worst, status(p))
	}
	if err := t.Save(filepath.Join(o.results, "results", o.target+".yaml")); err != nil {
		return 0, err
	}
	return worst, table(ctx, o.results)
}
