package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	recordFile = "mutation.yaml"
	tableFile  = "mutation.md"
)

// shownOfChecks is how much of the name of the checks the table shows.
const shownOfChecks = 7

// row is what came of one defect.
type row struct {
	Defect      string         `json:"defect"`
	Requirement requirement.ID `json:"requirement"`
	// Scenario is what was played, and Harness the version that played it.
	Scenario string `json:"scenario,omitempty"`
	Harness  string `json:"harness,omitempty"`
	// Checks names the sources of the checks that judged, as play.Checks does; empty
	// where that was not told yet.
	Checks string `json:"checks,omitempty"`
	// Runs that it took, of which the last one decides; Seconds is how long that was.
	Runs int `json:"runs"`
	// Near is which bound the defect breaks by little, and by what; empty if it breaks none.
	Near    string `json:"near,omitempty"`
	Seconds int    `json:"seconds"`
	// Red are the requirements that failed in it.
	Red []requirement.ID `json:"red,omitempty"`
	// Fault is why the defect counts as missed; empty if it was found.
	Fault string `json:"fault,omitempty"`
	// starved is whether the requirement stayed open because the machine was starved.
	starved bool
}

// record is what is known of all defects, by name.
type record struct {
	Defects []row `json:"defects"`
}

func load(folder string) (*record, error) {
	data, err := os.ReadFile(filepath.Join(folder, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &record{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read earlier results: %w", err)
	}
	var r record
	if err := yaml.UnmarshalStrict(data, &r); err != nil {
		return nil, fmt.Errorf("%s in %s holds no results: %w", recordFile, folder, err)
	}
	return &r, nil
}

// save writes the record and its table.
func (r *record) save(folder string) error {
	data, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	for name, content := range map[string][]byte{recordFile: data, tableFile: []byte(r.markdown())} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}

func (r *record) at(defect string) (int, bool) {
	return slices.BinarySearchFunc(r.Defects, defect, func(r row, id string) int { return cmp.Compare(r.Defect, id) })
}

func (r *record) replace(n row) {
	i, there := r.at(n.Defect)
	if there {
		r.Defects[i] = n
		return
	}
	r.Defects = slices.Insert(r.Defects, i, n)
}

// found is whether the checks of that name found the defect.
func (r *record) found(defect, checks string) bool {
	i, there := r.at(defect)
	return there && r.Defects[i].Fault == "" && r.Defects[i].Checks == checks
}

// proven are the defects of which the results say that they were found; all of them where
// there are no results.
func (r *record) proven(defects []cluster.Defect) []cluster.Defect {
	if len(r.Defects) == 0 {
		return defects
	}
	return slices.DeleteFunc(slices.Clone(defects), func(d cluster.Defect) bool {
		i, known := r.at(d.ID)
		return !known || r.Defects[i].Fault != ""
	})
}

// keepOnly forgets defects that are no more.
func (r *record) keepOnly(defects []cluster.Defect) {
	r.Defects = slices.DeleteFunc(r.Defects, func(r row) bool {
		return !slices.ContainsFunc(defects, func(d cluster.Defect) bool { return d.ID == r.Defect })
	})
}

func (r *record) markdown() string {
	var b strings.Builder
	b.WriteString(`# Planted defects and the checks that find them

Each defect of the reference is planted by itself, and the cheapest scenario that
judges the requirement it is named after is played. It is found when that requirement
fails. "Also red" are other requirements that the same history shows broken, whether or
not the scenario lists them; why is told below. Made by ` + "`make mutation RESULTS=reports`" + `; the versions are in ` + "`mutation.yaml`" + `.
Rows with the same name under "checks" were judged by the same sources of the checks;
those without one by earlier ones.

| defect | requirement | verdict | bound that is broken by little | also red | scenario | runs | seconds | checks |
|---|---|---|---|---|---|---|---|---|
`)
	var reasons strings.Builder
	for _, row := range r.Defects {
		verdict := "found"
		if row.Fault != "" {
			verdict = "**missed**: " + row.Fault
		}
		var also []string
		for _, id := range row.Red {
			if id != row.Requirement {
				also = append(also, string(id))
				fmt.Fprintf(&reasons, "| %s | %s | %s |\n", row.Defect, id, row.because(id))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %d | %s |\n", row.Defect, row.Requirement, verdict, row.Near, strings.Join(also, ", "), row.Scenario, row.Runs, row.Seconds, row.Checks[:min(len(row.Checks), shownOfChecks)])
	}
	if reasons.Len() > 0 {
		b.WriteString("\n## Why others turn red\n\n| defect | also red | because |\n|---|---|---|\n" + reasons.String())
	}
	b.WriteString("\n## Bounds that no defect can break by little\n\n| requirement | bound | because |\n|---|---|---|\n")
	for _, u := range unplanted() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", u.requirement, u.bound, u.because)
	}
	if never := r.neverAlone(); len(never) > 0 {
		fmt.Fprintf(&b, "\nNo defect turns these red by themselves: %s.\n", strings.Join(never, ", "))
	} else if len(r.Defects) > 0 {
		b.WriteString("\nEach requirement of the first table has a defect that turns it red by itself.\n")
	}
	return b.String()
}

// neverAlone returns the requirements that were found violated only together with others, or
// not at all. For them the record does not show that their law differs from other laws.
func (r *record) neverAlone() []string {
	alone := map[requirement.ID]bool{}
	for _, row := range r.Defects {
		alone[row.Requirement] = alone[row.Requirement] || row.Fault == "" && len(row.Red) == 1
	}
	var never []string
	for id, was := range alone {
		if !was {
			never = append(never, string(id))
		}
	}
	slices.Sort(never)
	return never
}
