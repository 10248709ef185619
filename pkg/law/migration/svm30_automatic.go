package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// automaticSetting is the setting of a topology by which migrations start without a request.
const automaticSetting = "automaticMigration"

// svm30: where migrations are automatic, there is one of a resource within a bound after
// servers have agreed on a version in which not all objects are stored, and it succeeds (KEP-25,
// "Beta workflow - Automation"). How long it may stand still SVM-19 judges.
var svm30 = together{
	Row:   law.Row{ID: "SVM-30", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("begun", "custom", "aggregated", "builtIn")},
	Parts: parts{isCreated, each[*due]{Row: law.Row{ID: "SVM-30"}, Over: (*Facts).due, End: (*due).succeeds}},
}

var isCreated = law.Deadline[*Facts, *due]{
	Row:      law.Row{ID: "SVM-30"},
	Bound:    "beginsWithin",
	Over:     (*Facts).due,
	Describe: func(d *due) law.Entry { return law.Of(d.of.String(), d.When(d.agreed.Stamp)) },
	Begin:    law.Once(func(d *due) fact.Moment { return d.When(d.agreed.Stamp) }),
	Running:  func(d *due) fact.Signal { return d.clock() },
	Done:     func(d *due) []fact.Moment { return d.Moments(fact.Each(d.migrations(), d.since)...) },
	Void: func(d *due) []law.Void {
		later := d.agreements(d.of).In(d.agreed.Revision, fact.Forever)
		return law.Voids("the servers ceased to agree on that version", d.Moments(fact.Each(later, func(a fact.Value[Agreement]) fact.Stamp { return a.Stamp })...)...)
	},
	Breach: func(d *due, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("no migration of %s existed %v after the servers had agreed on %s, while objects were stored in another version", d.of, rounded(took), d.agreed.Is.Version)
	},
	Tag: func(d *due, _, _ fact.Moment) []string {
		m := d.migrations()[0]
		switch {
		case m.requested() || !m.Succeeded():
			return nil
		case d.custom(d.of):
			return []string{"begun", "custom"}
		case m.aggregated():
			return []string{"begun", "aggregated"}
		}
		return []string{"begun", "builtIn"}
	},
}

// succeeds judges what comes of the first migration that there is, or of the next one where the
// control plane has deleted that.
func (d *due) succeeds(bounds law.Bounds) law.Entry {
	all := d.migrations()
	if len(all) == 0 {
		return law.Entry{} // isCreated judges that there is none
	}
	stays := slices.IndexFunc(all, func(m *Migration) bool { return !d.withdrawn(m) })
	if stays < 0 {
		return d.abandoned(all[len(all)-1], bounds)
	}
	switch m := all[stays]; {
	case m.goesOn() && !was(m.Started):
		return m.Entry().Open("the history ended before the migration had begun")
	default:
		return m.survives(d.When(d.since(m)), "", func(e law.Entry) law.Entry { return e.Met() })
	}
}

// due is an agreement after which objects of a resource have to be migrated.
type due struct {
	*Facts
	of     Resource
	agreed fact.Value[Agreement]
}

// due are the agreements where migrations are automatic.
func (f *Facts) due() (out []*due) {
	if f.Header.Topology == nil || f.Header.Topology.Settings[automaticSetting] != "true" {
		return nil
	}
	for _, r := range f.resources() {
		for _, a := range f.agreements(r).All() {
			if n := f.storedAt(r, a.Revision); a.Is.Version != "" && n.in[a.Is.Version] < n.total {
				out = append(out, &due{f, r, a})
			}
		}
	}
	return out
}

// migrations are those of the resource that had not ended, or were created later, with the
// one in front that came first. One that had begun with another version counts if it comes to
// a success in this one.
func (d *due) migrations() []*Migration {
	return fact.Where(d.Migrations, func(m *Migration) bool {
		switch {
		case m.Of != d.of:
			return false
		case m.Created.Revision > d.agreed.Revision:
			return true
		case !m.lived(d.agreed.Revision):
			return false
		}
		began := was(m.Started) && m.Started.Revision < d.agreed.Revision
		return !began || m.target().Version == d.agreed.Is.Version || m.Succeeded() && m.finished() == d.agreed.Is.Version
	})
}

// since is since when a migration has existed, of the time in which it is due.
func (d *due) since(m *Migration) fact.Stamp {
	if m.Created.Revision < d.agreed.Revision {
		return d.agreed.Stamp
	}
	return m.Created
}

// withdrawn is whether the control plane deleted a migration before it had ended, while the servers
// agreed as before.
func (d *due) withdrawn(m *Migration) bool {
	return was(m.Gone) && !was(m.Ended) && d.agreement(d.of, m.Gone.Revision).Seq == d.agreed.Seq &&
		len(d.deletions(Resource{"storagemigration.k8s.io", watchedMigrations}, m.Name)) == 0
}

// abandoned ends the obligation of a migration that the control plane deleted, and that none
// followed in the time in which one is created.
func (d *due) abandoned(m *Migration, bounds law.Bounds) law.Entry {
	until := d.Over()
	if later := d.agreements(d.of).In(d.agreed.Revision, fact.Forever); len(later) > 0 {
		until = d.When(later[0].Stamp)
	}
	if least, _ := lasted(d.clock(), d.When(m.Gone), until); least <= bounds.Of("beginsWithin") {
		return m.Entry().Excused("it was deleted so shortly before the servers ceased to agree, or the history ended, that none could follow")
	}
	return m.Entry().Broken("migration %s was deleted before it had ended, and no client had asked for that; none followed, while the servers agreed on %s", m.Name, d.agreed.Is.Version).
		Shown(m.Created.Seq, m.Gone.Seq)
}

// requested is whether the harness created it.
func (m *Migration) requested() bool { return m.requests.asked[m.Name] }
