// Mutation proves that the checks can fail: it plants each defect of the
// reference, runs what can judge the requirement that the defect breaks, and
// demands a red verdict on that row. The result is a table of defects
// by requirements.
//
//	go run ./hack/mutation -evenkeel bin/evenkeel -refplane bin/refplane -out _out/mutation
//
// With -sample N it plays N defects only, chosen by -commit, so that CI covers
// all of them over time and the same commit always plays the same ones.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

type options struct {
	evenkeel, refplane, out, commit, only string
	sample                                int
}

// row is the outcome of one defect's run.
type row struct {
	defect cluster.Defect
	red    []requirement.ID
	open   []requirement.ID
	took   time.Duration
	fault  string
}

func main() {
	var o options
	flag.StringVar(&o.evenkeel, "evenkeel", "bin/evenkeel", "the harness")
	flag.StringVar(&o.refplane, "refplane", "bin/refplane", "the reference control plane")
	flag.StringVar(&o.out, "out", "_out/mutation", "where the bundles and the table go; emptied first")
	flag.StringVar(&o.commit, "commit", "", "what the sample is derived from")
	flag.StringVar(&o.only, "only", "", "play only this defect")
	flag.IntVar(&o.sample, "sample", 0, "how many defects to play; 0 means all")
	flag.Parse()
	if err := play(o); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func play(o options) error {
	all, err := list(o.refplane)
	if err != nil {
		return err
	}
	defects, left := judged(all)
	if len(left) > 0 {
		// Said aloud, so that a check that went missing does not take its defects along.
		fmt.Printf("left out, since no check judges what they break: %s\n", strings.Join(left, ", "))
	}
	defects = choose(defects, o)
	if len(defects) == 0 {
		return errors.New("there is no defect to play")
	}
	if err := os.RemoveAll(o.out); err != nil {
		return fmt.Errorf("empty the output folder: %w", err)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("make the output folder: %w", err)
	}
	var rows []row
	missed := 0
	for i, d := range defects {
		r := run(o, d)
		rows = append(rows, r)
		verdict := "found"
		if r.fault != "" {
			missed++
			verdict = "MISSED: " + r.fault
		}
		fmt.Printf("%2d/%d %-28s red %v, %.0f s: %s\n", i+1, len(defects), d.ID, r.red, r.took.Seconds(), verdict)
	}
	table := markdown(rows)
	if err := os.WriteFile(filepath.Join(o.out, "table.md"), []byte(table), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	fmt.Print("\n", table, "\n")
	fmt.Printf("%d passed, %d failed\n", len(rows)-missed, missed)
	if missed > 0 {
		return fmt.Errorf("%d of %d defects were not found", missed, len(rows))
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

// long are the requirements for which a run takes half an hour: their defects are in
// no sample.
var long = []string{"SVM-16"}

// choose the defects to play.
func choose(defects []cluster.Defect, o options) []cluster.Defect {
	defects = slices.Clone(defects)
	if o.only != "" {
		return slices.DeleteFunc(defects, func(d cluster.Defect) bool { return d.ID != o.only })
	}
	if o.sample <= 0 {
		return defects
	}
	defects = slices.DeleteFunc(defects, func(d cluster.Defect) bool { return slices.Contains(long, d.Requirement) })
	if o.sample >= len(defects) {
		return defects
	}
	h := fnv.New64a()
	h.Write([]byte(o.commit))
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	random.Shuffle(len(defects), func(i, j int) { defects[i], defects[j] = defects[j], defects[i] })
	return defects[:o.sample]
}

func run(o options, d cluster.Defect) row {
	dir := filepath.Join(o.out, d.ID)
	started := time.Now()
	log, err := exec.Command(o.evenkeel, "run", "--defect", d.ID, "--out", dir).CombinedOutput()
	r := row{defect: d, took: time.Since(started)}
	if writeErr := os.WriteFile(dir+".log", log, 0o644); writeErr != nil {
		r.fault = writeErr.Error()
		return r
	}
	code := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		r.fault = err.Error()
		return r
	}
	data, err := os.ReadFile(filepath.Join(dir, bundle.ReportFile))
	if err != nil {
		r.fault = fmt.Sprintf("exit status %d and no report; see %s.log", code, dir)
		return r
	}
	var rep report.ConformanceReport
	if err := yaml.Unmarshal(data, &rep); err != nil {
		r.fault = err.Error()
		return r
	}
	r.weigh(&rep, code)
	return r
}

// weigh tells whether a run's report shows the defect.
func (r *row) weigh(rep *report.ConformanceReport, code int) {
	d := r.defect
	for _, res := range rep.Results {
		switch res.Verdict {
		case check.Fail:
			r.red = append(r.red, res.ID)
		case check.Inconclusive:
			r.open = append(r.open, res.ID)
		}
	}
	switch {
	case rep.Defect != d.ID:
		r.fault = fmt.Sprintf("the report is of a run with the defect %q", rep.Defect)
	case !slices.Contains(r.red, requirement.ID(d.Requirement)):
		r.fault = fmt.Sprintf("%s is not red (exit status %d)", d.Requirement, code)
	case code != exit.Fail:
		r.fault = fmt.Sprintf("exit status %d instead of %d", code, exit.Fail)
	}
}

// markdown is the table of defects by requirements: F where the requirement
// failed, ? where it stayed open, missed where the defect was not found in any
// other way, nothing where the requirement was not in focus or passed.
func markdown(rows []row) string {
	var columns []requirement.ID
	for _, r := range rows {
		for _, id := range append(slices.Clone(r.red), requirement.ID(r.defect.Requirement)) {
			if !slices.Contains(columns, id) {
				columns = append(columns, id)
			}
		}
	}
	slices.Sort(columns)
	var b strings.Builder
	b.WriteString("| defect | seconds |")
	for _, id := range columns {
		fmt.Fprintf(&b, " %s |", id)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %.0f |", r.defect.ID, r.took.Seconds())
		for _, id := range columns {
			switch {
			case slices.Contains(r.red, id):
				b.WriteString(" F |")
			case slices.Contains(r.open, id):
				b.WriteString(" ? |")
			case r.fault != "" && id == requirement.ID(r.defect.Requirement):
				b.WriteString(" missed |")
			default:
				b.WriteString("  |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
