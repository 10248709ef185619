package discovery

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// KEP is KEP-3352 with KEP-4020.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{
	ad01, ad02, ad03, ad04, ad05, ad06, ad07, ad08, ad09, ad10, ad11, ad12, ad13,
	ad14, ad15, ad16, ad17, ad18, ad19, ad20, ad21, ad22, ad23, ad24, ad25, ad26,
}

// notion is a bound that is part of what a word of the KEP means.
func notion(name string) func() time.Duration {
	return func() time.Duration { return requirement.MustBound("KEP-3352", name) }
}

var (
	// showsWithin is how soon a ready server shows what was defined, changed or deleted.
	showsWithin = notion("showsWithin")
	// recoversWithin is how soon a server has fetched anew from an aggregated server that
	// answers again.
	recoversWithin = notion("recoversWithin")
	// turnsWithin is how soon after one misbehaviour another one begins where the server
	// never answers in between.
	turnsWithin = notion("turnsWithin")
	// clocksApart is how far the clock of a server may be from that of the recorder.
	clocksApart = notion("clocksApart")
)

// The recorders that laws rely on.
var (
	documents   = []fact.Source{fact.Documents}
	definitions = []fact.Source{fact.Documents, fact.Requests}
	readiness   = []fact.Source{fact.Documents, fact.Requests, fact.Readyz}
	peers       = []fact.Source{fact.Documents, fact.Requests, fact.Readyz, fact.Etcd}
)

// each is a need of each member of obligations with a tag.
func each(names ...string) []law.Need {
	var out []law.Need
	for _, name := range names {
		out = append(out, law.Need{Name: name, Tag: name, Each: true})
	}
	return out
}

// onPath tells a tag at one of the two documents from that at the other one.
func onPath(tag, path string) string {
	if path == corePath {
		return tag + "AtCore"
	}
	return tag + "AtGroups"
}

// atBoth is each of the tags at both documents.
func atBoth(tags ...string) []law.Need {
	var names []string
	for _, tag := range tags {
		names = append(names, onPath(tag, corePath), onPath(tag, groupsPath))
	}
	return each(names...)
}

// entry is what a ledger says of an answer.
func (s *sweep) entry(a *answer) law.Entry {
	return law.Entry{Ending: law.Met, About: a.path + " " + a.accept, Member: s.member.name, Began: a.moment()}
}

// judged enters the answers of all sweeps that fit. Each is met with the tag, unless wrong
// says what is wrong with it, with the evidence.
func judged(f *Facts, l *law.Ledger, fits func(*sweep, *answer) bool, wrong func(*sweep, *answer) (tag, wrong string, evidence []int64)) {
	for _, s := range f.sweeps() {
		if !s.wasReady {
			l.Excused(s.member.name, s.moment(), "the member was not ready all the time of a thorough look")
			continue
		}
		for i := range s.answers {
			a := &s.answers[i]
			if !fits(s, a) {
				continue
			}
			e := s.entry(a)
			tag, what, evidence := "", "", []int64(nil)
			if a.busy() {
				e.Ending, e.Why = law.Excused, "the server could not answer"
			} else if tag, what, evidence = wrong(s, a); what != "" {
				e.Ending, e.Why, e.Evidence = law.Broken, what, evidence
			} else if tag == "" {
				continue
			} else {
				e.Tags = []string{onPath(tag, a.path)}
			}
			l.Add(e)
		}
	}
}
