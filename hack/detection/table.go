package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// result is what came of one defect in one way.
type result struct {
	Defect      string `json:"defect"`
	Requirement string `json:"requirement"`
	Random      bool   `json:"random,omitempty"`
	// Found is whether the requirement of the defect turned red, after so many schedules.
	Found     bool          `json:"found"`
	Schedules int           `json:"schedules"`
	Spoilt    int           `json:"spoilt,omitempty"`
	Took      time.Duration `json:"took"`
	// With are the defects that were planted in the same control plane.
	With []string `json:"with,omitempty"`
	// Others are the other requirements that turned red: of any defect of the group.
	Others []string `json:"others,omitempty"`
}

func read(path string) (out []result, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(out)+1, err)
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

func add(path string, results []result) error {
	var lines []byte
	for _, r := range results {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the results: %w", err)
	}
	_, err = file.Write(lines)
	return errors.Join(err, file.Close())
}

// summary is the share of the defects that were found, and the schedules that a defect took on
// average, also those that it was not found in.
func summary(results []result, random bool) string {
	k, n, schedules, minutes := 0, 0, 0, 0.0
	for _, r := range results {
		if r.Random != random {
			continue
		}
		n++
		schedules += r.Schedules
		minutes += r.Took.Minutes()
		if r.Found {
			k++
		}
	}
	low, high := bench.Share(k, n)
	return fmt.Sprintf("%d of %d (%.0f %% to %.0f %%) | %.1f | %.1f", k, n, 100*low, 100*high, float64(schedules)/float64(max(n, 1)), minutes/float64(max(n, 1)))
}

// markdown is the table of the results.
func markdown(results []result, schedules int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "At most %d schedules for each defect. The interval is Wilson's, 95 %%.\n", schedules)
	if slices.ContainsFunc(results, func(r result) bool { return len(r.With) > 0 }) {
		b.WriteString("Up to six defects were planted in one control plane, of different KEPs each, and no two of which one is\nknown to turn the requirement of the other one red: so the red row tells which of them was found.\n")
	}
	fmt.Fprintf(&b, "\n| how | found | schedules a defect | minutes a defect |\n|---|---|---|---|\n| guided | %s |\n| random | %s |\n\n", summary(results, false), summary(results, true))
	b.WriteString("| defect | guided: schedules | minutes | random: schedules | minutes | other rows that turned red |\n|---|---|---|---|---|---|\n")
	by := map[string][2]*result{}
	for i := range results {
		pair := by[results[i].Defect]
		if results[i].Random {
			pair[1] = &results[i]
		} else {
			pair[0] = &results[i]
		}
		by[results[i].Defect] = pair
	}
	var names []string
	for name := range by {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		pair := by[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, cell(pair[0]), cell(pair[1]), cmp.Or(others(pair), "–"))
	}
	return b.String()
}

func cell(r *result) string {
	switch {
	case r == nil:
		return "– | –"
	case !r.Found:
		return fmt.Sprintf("not in %d | %.1f", r.Schedules, r.Took.Minutes())
	}
	return fmt.Sprintf("%d | %.1f", r.Schedules, r.Took.Minutes())
}

func others(pair [2]*result) string {
	var all []string
	for _, r := range pair {
		if r != nil {
			all = append(all, r.Others...)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// The marks between which the table stands in a report.
const (
	begin = "<!-- detection:begin -->\n"
	end   = "<!-- detection:end -->"
)

// publish writes the table between the marks of a file, or to the terminal.
func publish(path, table string) error {
	if path == "" {
		fmt.Print(table)
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no line %s with a line %s after it", path, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+table+"\n"+end+after), 0o600)
}
