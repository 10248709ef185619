package site

import (
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Finding is a section of FINDINGS.md.
type Finding struct {
	Title string
	// Anchor is that of its heading.
	Anchor string
	// Group is the heading above it, such as "Misleads a client".
	Group string
	// Requirements that it is about.
	Requirements []requirement.ID
	// Versions in which it was seen, in words.
	Versions string
}

var (
	requirementsLine = regexp.MustCompile(`(?m)^- \*\*Requirements:\*\* (.*)$`)
	versionsLine     = regexp.MustCompile(`(?m)^- \*\*Versions:\*\* (.*)$`)
	requirementID    = regexp.MustCompile(`\b[A-Z]{2,4}-\d{2}\b`)
)

// findings reads the sections of a document of findings.
func findings(text string) []Finding {
	var all []Finding
	group := ""
	for _, section := range regexp.MustCompile(`(?m)^##`).Split(text, -1)[1:] {
		title, body, _ := strings.Cut(section, "\n")
		name, third := strings.CutPrefix(title, "# ")
		if !third {
			group = strings.TrimSpace(title)
			continue
		}
		f := Finding{Title: strings.TrimSpace(name), Anchor: anchor(strings.TrimSpace(name)), Group: group}
		if match := requirementsLine.FindStringSubmatch(body); match != nil {
			for _, id := range requirementID.FindAllString(match[1], -1) {
				f.Requirements = append(f.Requirements, requirement.ID(id))
			}
		}
		if match := versionsLine.FindStringSubmatch(body); match != nil {
			f.Versions = match[1]
		}
		if len(f.Requirements) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// findingsOf are the findings about a requirement.
func (m *Model) findingsOf(id requirement.ID) []Finding {
	return slices.DeleteFunc(slices.Clone(m.Findings), func(f Finding) bool { return !slices.Contains(f.Requirements, id) })
}

// notInAnchors is what GitHub leaves out of the anchor of a heading.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// anchor is that of a heading, as GitHub makes it.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
