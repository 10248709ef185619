package discovery

import (
	"fmt"
	"net/http"
	"reflect"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad10: whatever unaggregated discovery says about a resource, the aggregated document says
// too (KEP-3352: it has all that clients get from the others). What an aggregated server
// says may be out of date where it is marked so.
var ad10 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-10", Sources: definitions, Needs: each("own", "remote")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, s := range f.sweeps() {
			answers := s.versions()
			for _, name := range law.SortedKeys(answers) {
				group, version := parted(name)
				a, document := answers[name], s.steady(pathOf(group))
				if document == nil || a.code != http.StatusOK || a.listing.version(group, version) == nil || s.member.isForeign(group, version, s.from) {
					continue
				}
				l.Add(s.lossless(document, a, group, version))
			}
		}
	},
}

// lossless compares the document of one group-version with the aggregated one.
func (s *sweep) lossless(document, a *answer, group, version string) law.Entry {
	f, name := s.member.facts, named(group, version)
	e := law.Entry{Ending: law.Met, About: name, Member: s.member.name, Began: a.moment(), Tags: []string{"own"}}
	told, aggregated := a.listing.version(group, version), document.listing.version(group, version)
	remote := f.remote(group, version, s.to)
	if remote {
		e.Tags = []string{"remote"}
	}
	if aggregated == nil {
		e.Ending, e.Evidence = law.Broken, law.Evidence(a.seq, document.seq)
		e.Why = fmt.Sprintf("%s serves %s, but the aggregated document at %s does not have it", s.member.name, name, pathOf(group))
		return e
	}
	if remote && (aggregated.Freshness == history.FreshnessStale || f.behind(group, s.from, s.to)) {
		e.Ending, e.Why = law.Excused, "what an aggregated server says may be out of date where it is marked so, or soon after it misbehaved"
		return e
	}
	if lost := lostFrom(f.library.resources(aggregated), f.library.resources(told)); lost != "" {
		e.Ending, e.Evidence = law.Broken, law.Evidence(a.seq, document.seq)
		e.Why = fmt.Sprintf("%s tells of %s at %s otherwise than in the aggregated document: %s", s.member.name, name, a.path, lost)
	}
	return e
}

// lostFrom says what of the resources told is missing or another; empty if nothing is.
func lostFrom(aggregated, told []history.ListedResource) string {
	for i := range told {
		got := find(aggregated, told[i].Name)
		if got == nil {
			return fmt.Sprintf("%s is missing there", told[i].Name)
		}
		if got != &told[i] && !reflect.DeepEqual(*got, told[i]) {
			return fmt.Sprintf("%s is %+v, and there %+v", told[i].Name, told[i], *got)
		}
	}
	return ""
}
