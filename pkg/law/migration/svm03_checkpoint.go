package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm03: the checkpoint is recorded once, and names a revision of the time since the
// migration was created (KEP-4192, status.resourceVersion).
var svm03 = together{
	Row: law.Row{ID: "SVM-03", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "recorded", Tag: "recorded"}, {Name: "refused", Tag: history.InvalidCheckpoint},
	}},
	Parts: parts{each[*Migration]{Over: all, End: (*Migration).keepsCheckpoint}, refuses(history.InvalidCheckpoint, "another checkpoint")},
}

func (m *Migration) keepsCheckpoint(law.Bounds) law.Entry {
	i := slices.IndexFunc(m.Reports, func(r Report) bool { return r.Checkpoint != "" })
	switch {
	case i < 0 && m.Succeeded() && m.single() && m.firstRunning() == nil:
		return m.ended().Excused("the resource has one version, so that there was nothing to go through")
	case i < 0 && m.Succeeded():
		return m.ended().Broken("migration %s succeeded at revision %d, and no checkpoint of it was recorded", m.Name, m.Ended.Revision).Shown(m.Created.Seq, m.Ended.Seq)
	case i < 0:
		return law.Entry{}
	}
	first := m.Reports[i]
	e := law.Of(m.Name, m.When(first.Stamp))
	if j := slices.IndexFunc(m.Reports[i:], func(r Report) bool { return r.Checkpoint != first.Checkpoint }); j > 0 {
		other := m.Reports[i+j]
		return e.Broken("the checkpoint of migration %s was %s and is %q at revision %d", m.Name, first.Checkpoint, other.Checkpoint, other.Revision).
			Shown(first.Seq, other.Seq)
	}
	switch revision := checkpointOf(first.Migration); {
	case i == 0: // a status at the creation is SVM-01's; what was found was recorded before
		return law.Entry{}
	case revision < m.Created.Revision, revision > first.Revision:
		return e.Broken("migration %s was created at revision %d, and at revision %d its checkpoint was recorded as %s",
			m.Name, m.Created.Revision, first.Revision, first.Checkpoint).Shown(m.Created.Seq, first.Seq)
	}
	return e.Met("recorded")
}
