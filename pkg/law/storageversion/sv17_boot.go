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
var sv17 = law.Written[*facts]{
	Row: law.Row{ID: "SV-17", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "found", Tag: "alone", Breaches: true}}, Kinds: []string{kindStaleAtBoot}},
	Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
		for _, s := range f.allServers() {
			if s.ready == nil || s.revision == 0 || s.silent() || !f.told(l, s.Member, *s.ready, s.revision) {
				continue // one without the StorageVersion API reports nowhere
			}
			f.judgeFound(l, s)
		}
	},
}

func (f *facts) judgeFound(l *law.Ledger, s *server) {
	var tags []string
	if f.alone(s) {
		tags = []string{"alone"}
	}
	for _, v := range f.StorageVersions() {
		for _, id := range v.Servers() {
			if id == s.id || v.EntryAt(id, s.since) == nil || f.Participation(id).During(s.since, s.revision) || f.TakesPart(id, s.since) {
				continue
			}
			e := law.Entry{Ending: law.Met, About: v.Name, Member: s.Member, Began: *s.ready, Tags: tags}
			switch {
			case v.EntryAt(id, s.revision) == nil:
			case v.EntryAt(s.id, s.revision) == nil:
				continue // an object that is none of its business
			default:
				e.Ending, e.Kind, e.Release, e.Evidence = law.Broken, kindStaleAtBoot, s.Release, law.Evidence(s.Started.Seq, s.ready.Seq, v.At(s.revision).Seq, f.ToldBy(s.revision))
				e.Why = sprintf("%s was ready at revision %d and had left an entry in %s of %s, which does not take part", s.Member, s.revision, v.Name, id)
			}
			l.Add(e)
		}
	}
}

// alone is whether no controller manager and no other API server lived from the start of a
// process until it was ready.
func (f *facts) alone(s *server) bool {
	return !slices.ContainsFunc(f.AllProcesses(), func(p *fact.Process) bool {
		other := p.Component == history.ComponentControllerManager || p.Component == history.ComponentAPIServer && p.Member != s.Member
		return other && p.Started.Earliest <= s.ready.Latest && (p.Exited == nil || p.Exited.Latest >= s.Started.Earliest)
	})
}
