package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindStaleAtBoot is a server that was ready and had left entries of others that did not
// take part.
const kindStaleAtBoot = "stale-at-boot"

// sv17: a server that starts takes the stale entries of others out of the objects in which
// it reports (KEP-2339, updating StorageVersion: during bootstrap the entries of servers that
// are not on the list of participants are removed). What it found counts as evidence only
// where no other process can have removed it: no controller manager lived, and no other API
// server, from its start until it was ready. That something is left is a breach whatever else
// was there.
var sv17 = law.Each[*facts, found]{
	Row:  law.Row{ID: "SV-17", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "found", Tag: "alone", Breaches: true}}, Kinds: []string{kindStaleAtBoot}},
	Over: (*facts).found,
	End: func(d found, _ law.Bounds) law.Entry {
		s := d.s
		e := d.f.untold(law.Of(d.v.Name, *s.ready).By(s.Member).As(kindStaleAtBoot, s.Release), s.revision)
		if d.alone {
			e.Tags = []string{"alone"}
		}
		switch {
		case e.Ending != "":
			return e
		case d.v.EntryAt(d.id, s.revision) == nil:
			return e.Met()
		case d.v.EntryAt(s.id, s.revision) == nil:
			return law.Entry{} // the server does not report in the object
		}
		return e.Broken("%s was ready at revision %d and had left an entry in %s of %s, which does not take part", s.Member, s.revision, d.v.Name, d.id).
			Shown(s.Started.Seq, s.ready.Seq, d.v.At(s.revision).Seq, d.f.ToldBy(s.revision))
	},
}

// found is a stale entry that a process found as it started, and that nothing made right
// until it was ready; alone is whether no other process can have removed it.
type found struct {
	departure
	s     *server
	alone bool
}

func (f *facts) found() (out []found) {
	for _, s := range f.servers().all {
		if s.ready == nil || s.revision == 0 || s.silent() {
			continue // one without the StorageVersion API reports nowhere
		}
		alone := !slices.ContainsFunc(f.AllProcesses(), func(p *fact.Process) bool {
			other := p.Component == history.ComponentControllerManager || p.Component == history.ComponentAPIServer && p.Member != s.Member
			return other && p.Started.Earliest <= s.ready.Latest && (p.Exited == nil || p.Exited.Latest >= s.Started.Earliest)
		})
		for _, d := range f.departures() {
			if d.id != s.id && d.Through(s.since, s.since) && !f.Participation(d.id).During(s.since, s.revision) {
				out = append(out, found{d, s, alone})
			}
		}
	}
	return out
}
