package everyrun

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro08: no acknowledged write is lost (etcd's API guarantees: durability). The revision
// with which a member acknowledged a write is in etcd's history, and is that write; an object
// whose deletion it acknowledged is deleted there. It does not see what others than the harness
// write, such as controllers, and what etcd loses after it told of it: that shows in reads
// (RO-01) and hashes (RO-07).
var ro08 = law.Together[*Facts]{
	Row: law.Row{ID: "RO-08", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "kept", Tag: "kept"}, {Name: "keptEach", Tag: "kept", Each: true},
	}},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, acknowledged]{Over: func(f *Facts) []acknowledged { return f.acknowledged }, End: acknowledged.kept},
		law.Each[*Facts, deletion]{Over: func(f *Facts) []deletion { return f.deletions }, End: deletion.done},
	},
}

func (a acknowledged) kept(law.Bounds) law.Entry {
	e, stored, other := law.Of(a.name, fact.Exactly(a.At, a.Seq)), a.facts.storedAt(a.revision), "no such revision"
	switch {
	case a.revision <= 0:
		return a.keptSomewhere(e)
	case slices.ContainsFunc(stored, a.is):
		return law.Of("", e.Began).By(a.member).Met("kept")
	case len(stored) > 0:
		other = "another change at it"
	case a.revision > a.facts.LastTold():
		return e.Open("etcd told of nothing from revision %d on, which %s had acknowledged", a.revision, a.member)
	}
	// The write could have shown until etcd told of a later revision.
	return e.Broken("%s acknowledged write %d, of %s, with revision %d, and etcd's history has %s", a.member, a.write, a.name, a.revision, other).
		Unless(a.facts.ToldBy(a.revision + 1))
}

// keptSomewhere is what is owed of a write that was acknowledged without a revision: that etcd has
// it at any.
func (a acknowledged) keptSomewhere(e law.Entry) law.Entry {
	told := a.facts.ToldAllUntil(a.At)
	switch w := a.facts.Write(a.member, a.write); {
	case w != nil && slices.ContainsFunc(a.facts.storedAt(w.Stored.Revision), a.is):
		return law.Of("", e.Began).By(a.member).Met("kept")
	case told >= a.facts.Seq:
		return e.Open("etcd did not tell of all up to the answer of %s, which names no revision", a.member)
	}
	return e.Broken("%s acknowledged write %d, of %s, without a revision, and etcd's history does not have it", a.member, a.write, a.name).Unless(told)
}

// is whether a change in etcd is the write that was acknowledged: of the same object, with the
// tag of the write. Another client's change has no tag; that of bytes that cannot be read is not
// known.
func (a acknowledged) is(s stored) bool {
	tagged := s.write == a.write && a.facts.writers[s.by] == a.member
	return (tagged || s.opaque) && slices.Contains(a.keys(), s.key)
}

// keys are those under which the object of a request may be kept: below its group if it is that of
// a custom resource, and below it or not if it is one of the control plane's own.
func (a acknowledged) keys() []string {
	below := a.resource + "/" + a.name
	if a.custom {
		return []string{registry + a.group + "/" + below}
	}
	return []string{registry + a.group + "/" + below, registry + below}
}

// storedAt are the changes of a revision: several, where one transaction made them.
func (f *Facts) storedAt(revision int64) []stored {
	of := func(s stored) int64 { return s.Revision }
	return f.stored[fact.Last(f.stored, revision-1, of)+1 : fact.Last(f.stored, revision, of)+1]
}
