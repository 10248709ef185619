package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv02: a StorageVersion is named <group>.<resource>, the core group being spelled out as a
// fixed word (KEP-2339, resource version API). Every name in etcd must be that of a resource
// which some member hosts or has hosted, or of a custom resource, which is announced before
// it is served; judged at the end of holds, when all members have just been asked. An object
// that the harness has created, for the API servers that it simulates, is its own.
var sv02 = law.Together[*facts]{
	Row: law.Row{ID: "SV-02", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "core", Tag: "core"}, {Name: "named", Tag: "named"},
	}},
	Parts: []law.Law[*facts]{hostingKnown, law.Each[*facts, heldObject]{Over: (*facts).heldObjects, End: func(o heldObject, _ law.Bounds) law.Entry {
		e := law.Of(o.v.Name, *o.hold.Ended)
		asked := o.f.askedBy(o.hold)
		switch made := o.f.ByHarness(storageVersionGroup, storageVersionResource, o.v.Name, o.v.At(o.Made).Stamp, false); {
		case asked == 0:
			return e.Excused("not all members had been asked what they host since they started")
		case o.listed() && strings.HasPrefix(o.v.Name, "core."):
			return e.Met("core")
		case o.listed():
			return e.Met("named")
		case made == fact.Yes:
			return e.Excused("the harness created it")
		case made == fact.Unknown:
			return e.Unclear("the harness asked for it to be created, and learnt of no outcome")
		case o.Made > asked:
			return e.Excused("it was made after members were asked what they host")
		}
		return e.Broken("StorageVersion %q is not the <group>.<resource> of anything that discovery lists", o.v.Name).Shown(o.Seq, o.hold.Ended.Seq)
	}}},
}

// heldObject is a StorageVersion as it was at the end of a hold.
type heldObject struct {
	*fact.VersionRevision
	f    *facts
	v    *fact.StorageVersion
	hold *fact.Hold
}

func (f *facts) heldObjects() (out []heldObject) {
	for _, hold := range f.endedHolds() {
		for _, v := range f.StorageVersions() {
			if at := v.At(hold.EndedRevision); at != nil {
				out = append(out, heldObject{at, f, v, hold})
			}
		}
	}
	return out
}

// askedBy is the revision of the last look at what members host in a hold; 0 if a process of
// any member had not been looked at when it ended.
func (f *facts) askedBy(hold *fact.Hold) (revision int64) {
	for member := range hold.Releases {
		look := f.lastServer(member, hold.Ended.Latest).lookBy(hold.Ended.Latest)
		if look == nil {
			return 0
		}
		revision = max(revision, look.EtcdRevision)
	}
	return revision
}

// listed is whether the name is that of a resource that was hosted or defined before the
// hold ended.
func (o heldObject) listed() bool {
	return slices.ContainsFunc(o.f.definitions[o.v.Name], func(s fact.Stamp) bool { return s.Seq < o.hold.Ended.Seq }) ||
		o.f.anyLook(func(look *fact.Look) bool { return look.Seq < o.hold.Ended.Seq && look.Lists(o.v.Name) })
}
