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

var isCreated = law.Deadline[*Facts, *demand]{
	Row:      law.Row{ID: "SVM-30"},
	Bound:    "beginsWithin",
	Over:     (*Facts).demands,
	Describe: func(d *demand) law.Entry { return law.Of(d.of.String(), d.When(d.reached[0].Stamp)) },
	Begin: func(d *demand) []fact.Moment {
		return d.Moments(fact.Each(d.due(), func(one *due) fact.Stamp { return one.agreed.Stamp })...)
	},
	Running: (*demand).stands,
	Done: func(d *demand) (out []fact.Moment) {
		for _, one := range d.due() {
			out = append(out, d.Moments(fact.Each(one.migrations(), one.since)...)...)
		}
		return out
	},
	Void: func(d *demand) []law.Void {
		return law.Voids("the servers agreed on something else, or objects were left in no other version", d.Moments(d.over)...)
	},
	Breach: func(d *demand, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("no migration of %s existed %v after the servers had agreed on %s, while objects were stored in another version", d.of, rounded(took), d.version)
	},
	Tag: (*demand).begun,
}

// begun are the tags of the first migration that came of an agreement without having been asked for.
func (d *demand) begun(began, _ fact.Moment) []string {
	i := slices.IndexFunc(d.reached, func(a fact.Value[Agreement]) bool { return a.Seq == began.Seq })
	switch m := d.due()[i].migrations()[0]; {
	case m.requested() || !m.Succeeded():
		return nil
	case d.custom(d.of):
		return []string{"begun", "custom"}
	case m.aggregated():
		return []string{"begun", "aggregated"}
	}
	return []string{"begun", "builtIn"}
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
		return d.abandoned(all, bounds)
	}
	switch m := all[stays]; {
	case m.goesOn() && !was(m.Started):
		return m.Entry().Open("the history ended before the migration had begun")
	default:
		return m.survives(d.When(d.since(m)), "", func(e law.Entry) law.Entry { return e.Met() })
	}
}

// demand is that objects of a resource have to be migrated to a version: from an agreement on it
// until the servers agree on something else, or leave nothing to migrate. That they cease to agree
// and agree again begins no other one.
type demand struct {
	*Facts
	of      Resource
	version string
	// reached are the agreements on the version, each while not all objects were stored in it.
	reached []fact.Value[Agreement]
	// over is the zero Stamp where it lasts to the end.
	over fact.Stamp
}

// demands are those of a control plane in which migrations are automatic.
func (f *Facts) demands() (out []*demand) {
	if f.Header.Setting(automaticSetting) != "true" {
		return nil
	}
	for _, r := range f.resources() {
		var last *demand
		for _, a := range f.agreements(r).All() {
			n := f.storedAt(r, a.Revision)
			left := a.Is.Version != "" && n.in[a.Is.Version] < n.total
			if last != nil && !a.Is.disputed() && (!left || a.Is.Version != last.version) {
				last.over, last = a.Stamp, nil
			}
			if left && last == nil {
				last = &demand{Facts: f, of: r, version: a.Is.Version}
				out = append(out, last)
			}
			if left {
				last.reached = append(last.reached, a)
			}
		}
	}
	return out
}

// stands is while a controller works, and the servers agree on the version.
func (d *demand) stands() fact.Signal {
	return fact.And(d.clock(), d.agreeing(d.of, func(version string) bool { return version == d.version }))
}

// due is an agreement after which objects of a resource have to be migrated.
type due struct {
	*demand
	agreed fact.Value[Agreement]
}

func (d *demand) due() []*due {
	return fact.Each(d.reached, func(a fact.Value[Agreement]) *due { return &due{d, a} })
}

// due are the agreements of all demands.
func (f *Facts) due() (out []*due) {
	for _, d := range f.demands() {
		out = append(out, d.due()...)
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
		return !began || m.target().Version == d.version || m.Succeeded() && m.finished() == d.version
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
// agreed on the version.
func (d *due) withdrawn(m *Migration) bool {
	return was(m.Gone) && !was(m.Ended) && d.agreement(d.of, m.Gone.Revision).Is.Version == d.version &&
		len(d.deletions(Resource{"storagemigration.k8s.io", watchedMigrations}, m.Name)) == 0
}

// abandoned ends the obligation of an agreement of which the control plane deleted all migrations:
// whether it was without one for longer, in all, than it may take to create one.
func (d *due) abandoned(all []*Migration, bounds law.Bounds) law.Entry {
	last, until := all[len(all)-1], d.Over()
	if was(d.over) {
		until = d.When(d.over)
	}
	without := fact.And(d.stands(), fact.Not(fact.Or(fact.Each(all, (*Migration).Pending)...)))
	if least, _ := lasted(without, d.When(d.since(all[0])), until); least <= bounds.Of("beginsWithin") {
		return last.Entry().Excused("it was deleted so shortly before the servers ceased to agree, or the history ended, that none could follow")
	}
	return last.Entry().Broken("migration %s was deleted before it had ended, and no client had asked for that; none followed, while the servers agreed on %s", last.Name, d.version).
		Shown(last.Created.Seq, last.Gone.Seq)
}

// requested is whether the harness created it.
func (m *Migration) requested() bool { return m.requests.asked[m.Name] }
