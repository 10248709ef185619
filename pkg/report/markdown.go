package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// Markdown is a summary for a pull request: the verdicts, the answer to the
// question of the KEP template on upgrade and rollback, and the command that
// repeats the run. The remarks say what to mind about that command.
func (r *ConformanceReport) Markdown(repeat string, remarks []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Evenkeel: %s (%s)\n\n", strings.ToUpper(string(r.Verdict)), counts(r.Statistics.Counts))
	fmt.Fprintf(&b, "Scenario `%s` on %s %s: %d members, %s provider, %s, seed %d, recorded %s by evenkeel %s.\n\n",
		word(r.Scenario), word(r.Target.Distribution), word(arrows(r.Rollout().Path)), len(r.Target.Members), word(r.Target.Provider),
		r.Took.Round(100*time.Millisecond), r.Seed, r.Date, word(r.Harness.Version))
	if r.Defect != "" {
		fmt.Fprintf(&b, "The defect `%s` was planted on purpose.\n\n", word(r.Defect))
	}
	fmt.Fprintf(&b, "%s\n\n", r.implementation())
	for _, d := range r.Doubts {
		fmt.Fprintf(&b, "- nothing can pass: %s\n", escape(d))
	}
	if len(r.Doubts) > 0 {
		b.WriteString("\n")
	}
	r.markdownRows(&b)
	for _, p := range r.Profiles {
		fmt.Fprintf(&b, "- profile `%s`: %s\n", p.Name, p.InWords("**"))
	}
	if len(r.NotJudged) > 0 {
		fmt.Fprintf(&b, "- not judged: %s (%s)\n", strings.Join(ids(r.NotJudged), ", "), r.notJudged())
	}
	fmt.Fprintf(&b, "\n<details><summary>Were upgrade and rollback tested? (for the KEP)</summary>\n\n%s\n</details>\n", r.answer())
	fmt.Fprintf(&b, "\nTo repeat it:\n\n```\n%s\n```\n", repeat)
	for _, remark := range remarks {
		fmt.Fprintf(&b, "\n%s\n", remark)
	}
	return b.String()
}

// markdownRows is a table of all that is not a pass, and a folded one of passes.
func (r *ConformanceReport) markdownRows(b *strings.Builder) {
	var kept []check.Result
	head := false
	for _, res := range r.Results {
		if res.Verdict == check.Pass {
			kept = append(kept, res)
			continue
		}
		if !head {
			b.WriteString("| | verdict | promise | what was seen |\n|---|---|---|---|\n")
			head = true
		}
		seen := summary(res)
		if res.ViolationCount > 1 {
			seen = fmt.Sprintf("%d times; the first: %s", res.ViolationCount, seen)
		}
		if len(res.Violations) > 0 && len(res.Violations[0].Evidence) > 0 {
			seen += fmt.Sprintf(" (history events %s)", join(res.Violations[0].Evidence))
		}
		if res.Unlisted {
			seen += "; " + UnlistedNote
		}
		fmt.Fprintf(b, "| %s | **%s** | %s | %s |\n", res.ID, res.Verdict, escape(res.Promise), escape(seen))
	}
	if head {
		b.WriteString("\n")
	}
	if len(kept) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%d kept</summary>\n\n| | cases | promise |\n|---|---:|---|\n", len(kept))
	for _, res := range kept {
		fmt.Fprintf(b, "| %s | %d | %s |\n", res.ID, res.Cases(), escape(res.Promise))
	}
	b.WriteString("\n</details>\n\n")
}

// implementation names the organization that is responsible for the control plane.
func (r *ConformanceReport) implementation() string {
	i := r.Implementation
	if i == nil {
		return "The topology does not say who is responsible for the control plane: set its `spec.implementation` before you submit the report."
	}
	return fmt.Sprintf("The control plane is %s %s of %s (%s); contact: %s.",
		escape(i.Project), escape(i.Version), escape(i.Organization), escape(i.URL), escape(strings.Join(i.Contact, ", ")))
}

// answer is the text for a KEP under the heading of the KEP template.
func (r *ConformanceReport) answer() string {
	var b strings.Builder
	b.WriteString("```markdown\n###### Were upgrade and rollback tested? Was the upgrade->downgrade->upgrade path tested?\n\n")
	way := r.Rollout()
	switch {
	case !way.Upgraded:
		fmt.Fprintf(&b, "Not by this run: the scenario %s takes no member to a later release.\n", word(r.Scenario))
		b.WriteString("```\n")
		return b.String()
	case way.Again:
		b.WriteString("Yes, and the upgrade->downgrade->upgrade path too")
	case way.RolledBack:
		b.WriteString("Yes, upgrade and rollback; the upgrade->downgrade->upgrade path was not")
	default:
		b.WriteString("Only the upgrade was; rollback and the upgrade->downgrade->upgrade path were not")
	}
	fmt.Fprintf(&b, ": automatically, with Evenkeel %s (scenario %s, %s).\n", word(r.Harness.Version), word(r.Scenario), r.Date[:min(len(r.Date), len("2006-01-02"))])
	fmt.Fprintf(&b, "Members of a control plane of %d (%s) were replaced one by one, %s, and it was\nheld and looked at in %d states", len(r.Target.Members),
		word(r.Target.Distribution), word(arrows(way.Path)), len(r.States))
	if len(way.Mixed) > 0 {
		fmt.Fprintf(&b, ", of which %d with members of different releases (%s)", len(way.Mixed), word(strings.Join(way.Mixed, ", ")))
	}
	b.WriteString(".\n")
	if len(r.Faults) > 0 {
		var faults []string
		for _, f := range r.Faults {
			faults = append(faults, word(strings.TrimSpace(fmt.Sprintf("%s %s on %s %s", f.Type, f.Action, f.Member, f.Component))))
		}
		fmt.Fprintf(&b, "Faults on the way: %s.\n", strings.Join(faults, "; "))
	}
	fmt.Fprintf(&b, "Of %d promises that were judged: %s.\n", len(r.Results), counts(r.Statistics.Counts))
	for _, res := range r.Results {
		if res.Verdict != check.Pass {
			fmt.Fprintf(&b, "- %s, %s: %s\n", res.ID, res.Verdict, res.Promise)
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// word keeps a name of the history's from being anything else in Markdown: who
// posts a summary does not always know whose bundle it is.
func word(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,:;/+()-→", r) {
			return r
		}
		return '?'
	}, text)
}

// Escape keeps a sentence in its cell of a Markdown table, and plain.
func Escape(text string) string { return escape(text) }

// escape keeps a sentence, which may hold what a server under test has said, in
// its cell and plain.
func escape(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var b strings.Builder
	for _, r := range text {
		if slices.Contains([]rune("\\`*_[]<>|#@"), r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
