package conformance

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// Status writes how far a campaign is: a line for each scenario, and what is left.
func (p Progress) Status(out io.Writer, cost func(scenario string) time.Duration) error {
	var b strings.Builder
	type row struct{ planned, over, pass, fail, other, tries int }
	rows, order := map[string]*row{}, []string{}
	for _, l := range p.Lines {
		r := rows[l.Line.Scenario]
		if r == nil {
			r = &row{}
			rows[l.Line.Scenario], order = r, append(order, l.Line.Scenario)
		}
		r.planned++
		r.tries += l.Tries
		if !l.Over {
			continue
		}
		r.over++
		switch l.Verdict {
		case check.Pass:
			r.pass++
		case check.Fail:
			r.fail++
		default:
			r.other++
		}
	}
	fmt.Fprintf(&b, "%-28s %7s %5s %5s %5s %6s %6s\n", "SCENARIO", "PLANNED", "OVER", "PASS", "FAIL", "OTHER", "TRIES")
	for _, name := range order {
		r := rows[name]
		fmt.Fprintf(&b, "%-28s %7d %5d %5d %5d %6d %6d\n", name, r.planned, r.over, r.pass, r.fail, r.other, r.tries)
	}
	done, of := p.count()
	if p.Shard != "" {
		fmt.Fprintf(&b, "\nThe shard %s of a plan. ", p.Shard)
	} else {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%d of %d runs are over", done, of)
	if done < of {
		fmt.Fprintf(&b, "; about %s left, %d at a time", inMinutes(p.Left(cost)), p.Parallel)
	}
	b.WriteString(".\n")
	for _, l := range p.Lines {
		if l.Started != "" {
			fmt.Fprintf(&b, "Started and not over: line %d, try %d (%s, seed %d), in %s.\n", l.Line.Number, l.Tries+1, l.Line.Scenario, l.Line.Seed, l.Started)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// BeingPlayed is whether a process plays the campaign now.
func BeingPlayed(dir string) (bool, error) {
	file, err := os.Open(filepath.Join(dir, JournalFile))
	if err != nil {
		return false, fmt.Errorf("open the journal: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, file.Close()
	}
	return false, errors.Join(err, file.Close())
}
