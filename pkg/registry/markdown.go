package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Heading begins the section of an entry in a reference.
const Heading = "### `"

// Markdown describes the entry in a reference.
func (e *Entry) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s`\n\n%s\n\n", Heading, e.Name, e.Doc)
	for _, p := range e.Parameters {
		fmt.Fprintf(&b, "- %s %s.\n", p.Markdown(e.Parameters), p.Doc)
	}
	if e.Witness != "" {
		fmt.Fprintf(&b, "\nWitness: %s.\n", e.Witness)
	}
	b.WriteString(e.NeedsMarkdown())
	return b.String() + "\n"
}

// Markdown names a parameter, which is one of these, with its domain.
func (p *Parameter) Markdown(all []Parameter) string {
	s := p.Domain.String()
	if p.Optional {
		s += ", optional"
	}
	var others []string
	for _, other := range all {
		if p.Variant != "" && other.Variant != "" && other.Variant != p.Variant {
			others = append(others, "`"+other.Name+"`")
		}
	}
	if len(others) > 0 {
		s += ", not together with " + strings.Join(others, ", ")
	}
	if len(p.Path) > 0 {
		s += "; `" + strings.Join(p.Path, ".") + "`"
	}
	return fmt.Sprintf("`%s` (%s)", p.Name, s)
}

// NeedsMarkdown says what an entry needs of a cluster that not every one has which the harness
// runs itself; empty where that is nothing.
func (e *Entry) NeedsMarkdown() string {
	var names []string
	add := func(needs []cluster.Ability, where string) {
		for _, need := range needs {
			if name := need.Name + where; !need.Common && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	add(e.Abilities(e.Least()), "")
	for _, p := range e.Parameters {
		if p.Optional || p.Variant != "" {
			add(p.Needs, " (with `"+p.Name+"`)")
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("\nNeeds: %s.\n", strings.Join(names, ", "))
}

// short is a duration without the zeros at its end.
func short(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = strings.TrimSuffix(s, zero[1:])
		}
	}
	return s
}

// HeadComment is the comment at the beginning of a YAML file, in one line.
func HeadComment(raw []byte) string {
	var words []string
	for line := range strings.Lines(string(raw)) {
		comment, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	return strings.Join(words, " ")
}
