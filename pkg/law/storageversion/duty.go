package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// duty is a built-in resource that a process hosts: at a revision its server must have an
// entry in the StorageVersion of the name.
type duty struct {
	s        *server
	look     *fact.Look
	name     string
	resource history.HostedResource
	at       fact.Moment
	revision int64
	// change is the entry's that was in force; nil if it had never been there.
	change *fact.EntryChange
	// first is whether it is the first one of the look.
	first bool
}

// duties are those by a look, at a moment when etcd had a revision.
func (s *server) duties(look *fact.Look, at fact.Moment, revision int64) (out []duty) {
	for _, r := range look.Resources {
		if fact.BuiltIn(r) {
			name := fact.Resource{Group: r.Group, Resource: r.Resource}.StorageVersionName()
			// The revision may have been read a while after the moment.
			of := s.f.StorageVersion(name).Entry(s.id)
			change := of.ChangeBy(revision)
			for change != nil && s.f.When(change.Stamp).Earliest > at.Latest {
				change = of.ChangeBy(change.Revision - 1)
			}
			out = append(out, duty{s, look, name, r, at, revision, change, len(out) == 0})
		}
	}
	return out
}

// dutiesWhenReady are those of all processes when they had just become ready.
func (f *facts) dutiesWhenReady() (out []duty) {
	for _, s := range f.servers().all {
		if s.ready != nil && !s.silent() && len(s.looks) > 0 && s.revision > 0 {
			out = append(out, s.duties(s.looks[0], *s.ready, s.revision)...)
		}
	}
	return out
}

func (d duty) reported() bool { return d.change != nil && d.change.There }

// Entry is the obligation about it, which has an ending where etcd told too little.
func (d duty) Entry() law.Entry {
	return d.s.f.untold(law.Of(d.name, d.at).By(d.s.Member), d.revision)
}

// evidence are the events that show what was read, and others.
func (d duty) evidence(seqs ...int64) []int64 {
	return append(seqs, d.at.Seq, d.look.Seq, d.s.f.ToldBy(d.revision))
}

// dutiesAtHolds are those of the members' processes that fit at the end of each hold.
func (f *facts) dutiesAtHolds(fits func(*server, *fact.Hold) bool) (out []duty) {
	for _, hold := range f.endedHolds() {
		for _, member := range f.Members() {
			s := f.lastServer(member, hold.Ended.Latest)
			if look := s.lookBy(hold.Ended.Latest); look != nil && !s.silent() && fits(s, hold) {
				out = append(out, s.duties(look, *hold.Ended, hold.EndedRevision)...)
			}
		}
	}
	return out
}
