package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindLaunched is of breaches of SVM-31 in which a worker ran for nothing.
const kindLaunched = "launched"

// svm31: a migration of a resource that all servers read and store in one version succeeds
// without running, since no object can be stored in another one (KEP-25, "Alpha workflow":
// short-circuit).
var svm31 = each[*Migration]{
	Row:  law.Row{ID: "SVM-31", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Kinds: []string{kindLaunched}, Needs: needs("short")},
	Over: those(func(m *Migration) bool { return m.Seen && was(m.Ended) && m.single() }),
	End: func(m *Migration, _ law.Bounds) law.Entry {
		e := m.ended()
		switch ran := m.firstRunning(); {
		case ran != nil:
			return e.Broken("migration %s of %s ran, though the resource has one version", m.Name, m.Of).
				Shown(ran.Seq, m.Ended.Seq).As(kindLaunched, m.releaseAt(ran.Revision, ran.At))
		case m.Succeeded():
			return e.Met("short")
		}
		return e.Excused("it failed for another reason")
	},
}

// firstRunning is the first report that says that it runs; nil if none does.
func (m *Migration) firstRunning() *Report {
	i := slices.IndexFunc(m.Reports, func(r Report) bool { return isTrue(r.Migration, history.MigrationRunning) })
	if i < 0 {
		return nil
	}
	return &m.Reports[i]
}

// single is whether all servers announced, from its creation to its end, that they read and
// store its resource in one version and no other.
func (m *Migration) single() bool {
	announced := m.StorageVersion(m.Of.storageVersion())
	at := announced.At(m.Created.Revision)
	if at == nil || m.custom(m.Of) {
		return false
	}
	var version string
	for _, v := range append([]fact.VersionRevision{*at}, announced.In(m.Created.Revision, m.Ended.Revision)...) {
		if !v.There || len(v.Is.Entries) == 0 {
			return false
		}
		for _, e := range v.Is.Entries {
			if version == "" {
				version = e.Encoding
			}
			if e.Encoding != version || len(e.Decodable) != 1 || e.Decodable[0] != version {
				return false
			}
		}
	}
	return true
}
