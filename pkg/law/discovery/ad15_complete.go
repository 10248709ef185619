package discovery

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad15: at the first moment of readiness all built-in and custom group-versions are present
// and current (KEP-3352: the health check waits for local servers). The document of that
// moment is compared with what the harness had defined by then, and with what the same
// process said later, when all was quiet.
var ad15 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-15", Sources: readiness, Needs: append(each("prompt", "whole"), law.Need{Name: "custom", Tag: "custom"})},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, m := range f.all() {
			for _, p := range f.Processes(m.name, history.ComponentAPIServer) {
				if ready := f.FirstReady(p); ready != nil {
					m.firstDocument(l, b, p, *ready)
				}
			}
		}
	},
}

// firstDocument judges the first document that a process gave once it was ready.
func (m *member) firstDocument(l *law.Ledger, b law.Bounds, p *fact.Process, ready fact.Moment) {
	e := law.Entry{About: m.name, Member: m.name, Began: ready}
	over := never
	if p.Exited != nil {
		over = *p.Exited
	}
	denied, first := m.firstAnswers(p, ready.Latest, over.Latest)
	if denied != nil && denied.code >= 400 && denied.code < 500 && !denied.busy() {
		refused := e
		refused.Ending, refused.Evidence = law.Broken, law.Evidence(p.Started.Seq, denied.seq)
		refused.Why = fmt.Sprintf("%s was ready and answered %d in the place of the document", m.name, denied.code)
		l.Add(refused)
	}
	switch {
	case first == nil:
		e, _ = (&owed{
			Entry: e, member: m, bound: b.Of("givesWithin"), over: over, why: "the process ended",
			fits: func(*look) bool { return false },
			breach: func(took time.Duration, last string) string {
				return fmt.Sprintf("%s was ready, and gave no document for %s%s", m.name, took, lately(last))
			},
		}).end(m.facts.Over())
		l.Add(e)
		return
	case denied != nil:
		e.Ending, e.Why = law.Excused, "the first answer was no document"
	case first.from > ready.Latest+int64(b.Of("firstMoment")):
		e.Ending, e.Why = law.Excused, "no document was asked for at the first moment"
	default:
		e.Ending, e.Tags = law.Met, []string{"prompt"}
	}
	l.Add(e)
	m.firstCustom(l, p, first)
	m.compareFirst(l, p, first)
}

// firstAnswers are the first answer of a process between two times that is no document, if
// it came before the first one that is, and that one; nil where there is none.
func (m *member) firstAnswers(p *fact.Process, from, to int64) (denied, first *look) {
	for _, k := range m.between(from, to) {
		switch {
		case k.code == 0 || !k.ready() || k.process() != p:
		case k.code != http.StatusOK && denied == nil:
			denied = k
		case k.told() != nil:
			return denied, k
		}
	}
	return denied, nil
}

// firstCustom looks in the first document for the custom resources that the harness had
// defined before the process started.
func (m *member) firstCustom(l *law.Ledger, p *fact.Process, k *look) {
	for _, d := range m.facts.definitions {
		c := d.latest(k.at)
		// Servers have to agree first on whether a resource can be hosted.
		if d.remote || c == nil || !c.known || c.at+int64(showsWithin()) > p.Started.Earliest || m.facts.changing(d.group, k.from, k.at) {
			continue
		}
		e := law.Entry{Ending: law.Met, About: d.String(), Member: m.name, Began: k.moment()}
		if wrong := m.facts.lacks(k.listing, c, k.at); wrong != "" {
			e.Ending, e.Evidence = law.Broken, law.Evidence(c.seq, p.Started.Seq, k.seq)
			e.Why = fmt.Sprintf("%s was ready and %s, which was defined before it started", m.name, wrong)
		} else if len(c.versions) > 0 {
			e.Tags = []string{"custom"}
		}
		l.Add(e)
	}
}

// compareFirst looks in the first document for what the same process hosts later.
func (m *member) compareFirst(l *law.Ledger, p *fact.Process, first *look) {
	sweeps := m.facts.sweeps()
	i := slices.IndexFunc(sweeps, func(s *sweep) bool {
		return s.process == p && s.member == m && s.steady(groupsPath) != nil && s.steady(groupsPath).listing != nil
	})
	e := law.Entry{Ending: law.Met, About: m.name + " later", Member: m.name, Began: first.moment(), Tags: []string{"whole"}}
	if i < 0 {
		e.Ending, e.Why = law.Excused, "no quiet look showed what the process hosts later"
		l.Add(e)
		return
	}
	later := sweeps[i].steady(groupsPath)
	later.listing.each(func(group string, v *history.ListedVersion) {
		found, wrong := first.listing.version(group, v.Version), ""
		switch {
		case e.Ending == law.Broken || m.facts.isDefined(group) || m.isForeign(group, v.Version, sweeps[i].from):
		case found == nil:
			wrong = "did not list it"
		case found.Freshness != history.FreshnessCurrent:
			wrong = "called it " + quoted(found.Freshness)
		case found.Inventory != v.Inventory:
			wrong = "listed other resources in it"
		}
		if wrong != "" {
			e.Ending, e.Evidence = law.Broken, law.Evidence(p.Started.Seq, first.seq, later.seq)
			e.Why = fmt.Sprintf("%s hosts %s, and when it was ready first it %s", m.name, named(group, v.Version), wrong)
		}
	})
	l.Add(e)
}
