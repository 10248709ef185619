package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Invalid is an error that lists the rules that a report violates.
type Invalid struct {
	// Rules that are violated, one sentence each, which begins with the field.
	Rules []string
}

// Error lists all of them.
func (i *Invalid) Error() string { return strings.Join(i.Rules, "; ") }

// Validate checks the rules of the form, independently of the tool that wrote the report:
// every field has a permitted value, every verdict has its evidence, and the outcomes and
// statistics follow from the verdicts. Above all, a profile whose core has a skipped or
// inconclusive requirement is not a success. It returns nil or an *Invalid.
//
// The report must be of this evenkeel's suite and schema, since the rules are. Of another
// report, Validate checks nothing else.
func (r *ConformanceReport) Validate() error {
	v := &validation{report: r}
	v.versions()
	if len(v.rules) == 0 {
		v.run()
		v.target()
		v.results()
		v.whole()
		v.profiles()
		v.statistics()
		v.faults()
	}
	if len(v.rules) > 0 {
		return &Invalid{v.rules}
	}
	return nil
}

// validation is the check of one report.
type validation struct {
	report *ConformanceReport
	rules  []string
}

func (v *validation) broken(format string, args ...any) {
	v.rules = append(v.rules, fmt.Sprintf(format, args...))
}

// versions are those of the form and of the suite.
func (v *validation) versions() {
	r := v.report
	if r.APIVersion != APIVersion || r.Kind != Kind {
		v.broken("apiVersion and kind: it is a %q of %q, and not a %q of %q", r.Kind, r.APIVersion, Kind, APIVersion)
	}
	if r.Harness.Schema != SchemaDigest() {
		v.broken("harness.schema: it is written in the form %q, and this evenkeel knows the form %q", r.Harness.Schema, SchemaDigest())
	}
	if r.Harness.Suite != check.Suite() {
		v.broken("harness.suite: it was judged by the requirements and checks %q, and this evenkeel has %q", r.Harness.Suite, check.Suite())
	}
}

// run is what was done when, and with what.
func (v *validation) run() {
	r := v.report
	for _, field := range []struct{ name, value string }{
		{"run", r.Run}, {"scenario", r.Scenario}, {"harness.version", r.Harness.Version},
		{"target.provider", r.Target.Provider}, {"target.distribution", r.Target.Distribution},
	} {
		if field.value == "" {
			v.broken("%s is missing", field.name)
		}
	}
	if when, err := time.Parse(dateForm, r.Date); err != nil || when.Format(dateForm) != r.Date {
		v.broken("date %q is no time such as %s", r.Date, dateForm)
	}
	if r.Digests.History == "" {
		v.broken("digests.history is missing")
	}
	topology := ""
	if r.Target.Topology != nil {
		topology = r.Target.Topology.Digest
	}
	for _, field := range []struct{ name, value string }{
		{"harness.digest", r.Harness.Digest}, {"target.topology.digest", topology}, {"digests.history", r.Digests.History},
		{"digests.scenario", r.Digests.Scenario}, {"digests.topology", r.Digests.Topology}, {"digests.environment", r.Digests.Environment},
	} {
		if field.value != "" && !isDigest(field.value) {
			v.broken("%s %q is no SHA-256 in hexadecimal", field.name, field.value)
		}
	}
	if r.Implementation != nil {
		for _, problem := range r.Implementation.Problems() {
			v.broken("implementation.%s", problem)
		}
	}
	if r.Events < 0 {
		v.broken("events: there are %d of them", r.Events)
	}
	switch {
	case len(r.Doubts) > 0:
	case !r.Complete:
		v.broken("doubts: the scenario was not played to its end, and nothing is doubted")
	case len(r.Damage) > 0:
		v.broken("doubts: the history is damaged, and nothing is doubted")
	}
}

// isDigest is whether a text is a SHA-256 as evenkeel writes it.
func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// target is the control plane, as far as one part must fit the other.
func (v *validation) target() {
	t := v.report.Target
	if len(t.Members) == 0 {
		v.broken("target.members is missing")
	}
	var members []string
	for _, m := range t.Members {
		switch {
		case m.Name == "":
			v.broken("target.members: one has no name")
		case slices.Contains(members, m.Name):
			v.broken("target.members[%s] is there twice", m.Name)
		}
		members = append(members, m.Name)
		if m.Release != "" && !slices.Contains(t.Releases, m.Release) {
			v.broken("target.releases: %s began at %s, which is not among them", m.Name, m.Release)
		}
	}
	for release := range t.Gates {
		if !slices.Contains(t.Releases, release) {
			v.broken("target.gates[%s]: nothing ran at that release", release)
		}
	}
	for _, s := range v.report.States {
		if s.Mixed != history.Mixed(s.Releases) {
			v.broken("states[%s].mixed is %v, and the releases say otherwise", s.Name, s.Mixed)
		}
	}
}

// whole is the verdict of the run.
func (v *validation) whole() {
	r := v.report
	if want := r.weigh(); r.Verdict != want {
		v.broken("verdict: it is %s, and from the results follows %s", r.Verdict, want)
	}
}

// statistics are sums.
func (v *validation) statistics() {
	if told, summed := v.report.Statistics, v.report.statistics(); !same(told, summed) {
		v.broken("statistics: they say %s, and the results add up to %s", inWords(told), inWords(summed))
	}
}

// same is whether two values are written alike, which is all that counts in a file: a
// list without anything in it is as good as none.
func same[T any](a, b T) bool { return inWords(a) == inWords(b) }

func inWords(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("what cannot be shown (%v)", err)
	}
	return string(bytes.ReplaceAll(raw, []byte(`"`), nil))
}

// faults must have bitten before anything passes.
func (v *validation) faults() {
	for i, f := range v.report.Faults {
		if f.ID == "" || f.Type == "" {
			v.broken("faults[%d]: id and type must be there", i)
		}
		if f.Witness == "" && len(v.report.Doubts) == 0 {
			v.broken("faults[%s]: nothing proves that it bit, and nothing is doubted", f.ID)
		}
	}
	for i, e := range v.report.Etcd {
		if e.Problem != e.EtcdHealth.Problem() {
			v.broken("etcd[%d].problem: it says %q, and the members say %q", i, e.Problem, e.EtcdHealth.Problem())
		}
	}
}
