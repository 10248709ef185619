package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// publishedRed says which requirements each defect turns red in the scenario that finds it.
const publishedRed = "reports/mutation.yaml"

// group are defects that are planted in one control plane. A red row tells which of them was
// found, since no two of them break a requirement of the same KEP, and none is known to turn
// the requirement of another one red.
type group []cluster.Defect

// String is the group as the flag of a run takes it.
func (g group) String() string {
	ids := make([]string, len(g))
	for i, d := range g {
		ids[i] = d.ID
	}
	return strings.Join(ids, ",")
}

// groups parts the defects into groups of at most so many, each defect into the first that takes it.
func groups(defects []cluster.Defect, red map[string][]string, most int) []group {
	var out []group
	for _, d := range defects {
		i := slices.IndexFunc(out, func(g group) bool { return len(g) < most && g.takes(d, red) })
		if i < 0 {
			out = append(out, group{d})
			continue
		}
		out[i] = append(out[i], d)
	}
	return out
}

func (g group) takes(d cluster.Defect, red map[string][]string) bool {
	return !slices.ContainsFunc(g, func(other cluster.Defect) bool {
		return family(d) == family(other) || slices.Contains(red[d.ID], other.Requirement) || slices.Contains(red[other.ID], d.Requirement)
	})
}

// family is what the IDs of the requirements of one KEP begin with.
func family(d cluster.Defect) string {
	prefix, _, _ := strings.Cut(d.Requirement, "-")
	return prefix
}

// published are the requirements that each defect is known to turn red; none where there is no
// such file, as in another folder.
func published(path string) (map[string][]string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what each defect turns red: %w", err)
	}
	var record struct {
		Defects []struct {
			Defect string   `json:"defect"`
			Red    []string `json:"red"`
		} `json:"defects"`
	}
	if err := yaml.Unmarshal(raw, &record); err != nil {
		return nil, fmt.Errorf("read what each defect turns red, %s: %w", path, err)
	}
	out := map[string][]string{}
	for _, d := range record.Defects {
		out[d.Defect] = d.Red
	}
	return out, nil
}
