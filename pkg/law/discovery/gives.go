package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// givesLaw is the law by which a ready member that had no document for a client gives one
// within a bound, beside what may have kept it from that at a time.
func givesLaw(id requirement.ID, beside func(f *Facts, at int64) bool) law.Law[*Facts] {
	return law.Deadline[*Facts, *member]{
		Row: law.Row{ID: id}, Bound: "givesWithin", Over: (*Facts).all,
		Describe: func(m *member) law.Entry { return law.Entry{About: "the document", Member: m.name} },
		Begin:    func(m *member) []fact.Moment { return m.denials(beside) },
		// The clock stands while the member has a fault of its own.
		Running: (*member).alone,
		Looks:   (*member).gives,
		Void: func(m *member) (voids []law.Void) {
			for _, p := range m.facts.Processes(m.name, history.ComponentAPIServer) {
				voids = append(voids, law.Ended(p)...)
			}
			return voids
		},
		Lacking: func(m *member) string {
			return m.name + " is ready, and has given no discovery document"
		},
	}
}

func (m *member) alone() fact.Signal { return fact.And(m.serving(), fact.Not(m.facts.FaultAt(m.name))) }

// denials are the looks that have no document, beside what may be why. Those of thorough
// looks are no begin: much else is asked for before the document is asked for again.
func (m *member) denials(beside func(f *Facts, at int64) bool) (out []fact.Moment) {
	for _, k := range m.looks {
		if k.busy() && k.Sweep == 0 && beside(m.facts, k.at) && m.process(k.from, k.at) != nil {
			out = append(out, fact.Exactly(k.from, k.seq))
		}
	}
	return out
}

// gives are the answers to requests for the document, in any form, which say whether the
// member gives it.
func (m *member) gives() (out []law.Look) {
	for _, a := range m.atGroups {
		shows := a.Code == http.StatusNotModified || a.Code == http.StatusOK && a.formed && a.form.aggregated() || a.Accept == askedJSON && !a.busy()
		if shows || a.busy() {
			out = append(out, law.Look{Asked: a.from, Answered: a.at, Until: a.from, Seq: a.seq, Shows: shows, Lasting: a.lasting()})
		}
	}
	return out
}
