package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm01: what is migrated never changes, names that are none are refused, and a status
// that comes with the creation is left out (KEP-4192, validation and strategy).
var svm01 = written{
	Row: law.Row{ID: "SVM-01", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "resources", Tag: history.InvalidResource}, {Name: "groups", Tag: history.InvalidGroup}, {Name: "changes", Tag: history.InvalidChange}, {Name: "created", Tag: "created"},
	}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			m.keepsResource(l)
		}
		f.refuses(l, history.InvalidResource, "a migration of a resource that cannot be one")
		f.refuses(l, history.InvalidGroup, "a migration of a group that cannot be one")
		f.refuses(l, history.InvalidChange, "another resource in a migration than it was created with")
		for _, r := range f.requests.created {
			f.leavesStatusOut(l, r)
		}
	},
}

func (m *Migration) keepsResource(l *law.Ledger) {
	for _, r := range m.Reports[1:] {
		if of := (Resource{r.Group, r.Resource}); of != m.Of {
			l.Broken(m.Name, m.facts.When(r.Stamp), law.Evidence(m.Created.Seq, r.Seq), "migration %s was of %s and is of %s", m.Name, m.Of, of)
			return
		}
	}
	if first := m.Reports[0]; m.Seen && (first.Checkpoint != "" || len(first.Conditions) > 0) {
		l.Add(law.Entry{Ending: law.Broken, About: m.Name, Began: m.facts.When(m.Created), Evidence: []int64{first.Seq}, SelfEvident: true,
			Why: "migration " + m.Name + " was created with a status"})
		return
	}
	l.Met(m.Name, m.facts.When(m.Created), "kept")
}

// leavesStatusOut ends the creation of a migration with a status in the request: what etcd
// showed of it is judged where it is created.
func (f *Facts) leavesStatusOut(l *law.Ledger, r flawedRequest) {
	for _, m := range f.Migrations {
		if m.Name == r.name && m.Seen {
			l.MetBy(r.member, r.name, f.When(r.Stamp), "created")
			return
		}
	}
	l.Unclear(r.name, f.When(r.Stamp), "%s accepted migration %s with a status, and etcd has not shown what was created", r.member, r.name)
}

// refuses judges all requests with a flaw: a server has to refuse them for what they are.
func (f *Facts) refuses(l *law.Ledger, flaw, what string) {
	for _, r := range f.requests.flawed {
		switch at := f.When(r.Stamp); {
		case r.flaw != flaw:
		case r.refused():
			l.MetBy(r.member, r.name, at, flaw)
		case r.code >= 200 && r.code < 300:
			l.Add(law.Entry{Ending: law.Broken, About: r.name, Member: r.member, Began: at, Evidence: []int64{r.Seq}, SelfEvident: true,
				Why: r.member + " accepted " + what + " (" + r.name + ")"})
		default:
			l.Excused(r.name, at, "the request was not answered by what it asked for")
		}
	}
}
