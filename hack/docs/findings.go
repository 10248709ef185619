package docs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Evidence is which requirements fail in which published bundle, with the events of the
// history that show the first violation.
type Evidence map[string]map[string][]int

// evidenceBlock is a table that is made from the reports: the requirements that it is
// about, and the bundles where not all that have such a failure belong to the finding.
var evidenceBlock = regexp.MustCompile(`(?s)<!-- evidence: ([A-Z0-9\- ]+?)(?: in ([^>]+?))? -->\n.*?<!-- end -->`)

// Tables writes all tables of a document of findings anew from the evidence, and gives what
// they tell of: pairs of bundle and requirement.
func (e Evidence) Tables(text string) (written string, told [][2]string) {
	written = evidenceBlock.ReplaceAllStringFunc(text, func(block string) string {
		match := evidenceBlock.FindStringSubmatch(block)
		ids, only := strings.Fields(match[1]), strings.Fields(match[2])
		var table strings.Builder
		opening, _, _ := strings.Cut(block, "\n")
		fmt.Fprintf(&table, "%s\n| bundle | requirement (events that show it first) |\n|---|---|\n", opening)
		for _, bundle := range e.bundles() {
			if len(only) > 0 && !slices.Contains(only, bundle) {
				continue
			}
			var cells []string
			for _, id := range ids {
				lines, fails := e[bundle][id]
				if !fails {
					continue
				}
				cells = append(cells, fmt.Sprintf("%s (%s)", id, join(lines)))
				told = append(told, [2]string{bundle, id})
			}
			if len(cells) > 0 {
				fmt.Fprintf(&table, "| [%s](kubernetes/%s/report.yaml) | %s |\n", bundle, bundle, strings.Join(cells, ", "))
			}
		}
		return table.String() + "<!-- end -->"
	})
	return written, told
}

func (e Evidence) bundles() []string {
	var all []string
	for bundle := range e {
		all = append(all, bundle)
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}

func join(lines []int) string {
	var all []string
	for _, line := range lines {
		all = append(all, fmt.Sprint(line))
	}
	return strings.Join(all, ", ")
}
