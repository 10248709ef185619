package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm01: what is migrated never changes, names that are none are refused, and a status
// that comes with the creation is left out (KEP-4192, validation and strategy).
var svm01 = together{
	Row: law.Row{ID: "SVM-01", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "resources", Tag: history.InvalidResource}, {Name: "groups", Tag: history.InvalidGroup},
		{Name: "changes", Tag: history.InvalidChange}, {Name: "created", Tag: "created"},
	}},
	Parts: parts{
		each[*Migration]{Over: all, End: (*Migration).keepsResource},
		each[request]{Over: func(f *Facts) []request { return f.requests.created }, End: request.leavesStatusOut},
		refuses(history.InvalidResource, "a migration of a resource that cannot be one"),
		refuses(history.InvalidGroup, "a migration of a group that cannot be one"),
		refuses(history.InvalidChange, "another resource in a migration than it was created with"),
	},
}

func (m *Migration) keepsResource(law.Bounds) law.Entry {
	first := m.Reports[0]
	if i := slices.IndexFunc(m.Reports, func(r Report) bool { return Resource{r.Group, r.Resource} != m.Of }); i > 0 {
		return m.Entry().Broken("migration %s was of %s and is of %s.%s", m.Name, m.Of, m.Reports[i].Resource, m.Reports[i].Group).Shown(m.Created.Seq, m.Reports[i].Seq)
	}
	if m.Seen && (first.Checkpoint != "" || len(first.Conditions) > 0) {
		return m.Entry().Broken("migration %s was created with a status", m.Name).Shown(first.Seq).Alone()
	}
	return m.Entry().Met()
}

// leavesStatusOut ends the creation of a migration with a status in the request: what etcd
// showed of it is judged where it is created.
func (r request) leavesStatusOut(law.Bounds) law.Entry {
	e := law.Of(r.Name, r.Moment).By(r.Member)
	if !slices.ContainsFunc(r.Migrations, func(m *Migration) bool { return m.Name == r.Name && m.Seen }) {
		return e.Unclear("%s accepted migration %s with a status, and etcd has not shown what was created", r.Member, r.Name)
	}
	return e.Met("created")
}
