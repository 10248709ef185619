package storageversion

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindNoCustom is a custom resource of which no server has ever published a storage version.
const kindNoCustom = "custom-unpublished"

// sv24: the storage version of a custom resource is published before the resource is served
// with it (KEP-2339, custom resources: the extension server updates the storage version, and
// only then enables the handler). A handler that is enabled shows by what it stores, so this
// is SV-15 for custom resources. Which resources are custom is what the harness has defined.
var sv24 = law.Written[*facts]{
	Row: law.Row{ID: "SV-24", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "writes", Tag: "write", Breaches: true}, {Name: "writesEach", Tag: "write", Each: true, Breaches: true},
		{Name: "onwardEach", Tag: "onward", Each: true, Breaches: true}, {Name: "backEach", Tag: "back", Each: true, Breaches: true},
	}, Kinds: []string{kindNoCustom}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtTags(l)
		turns := versionTurns{}
		for _, w := range f.Writes() {
			r, ok := f.ResourceOfWrite(w)
			if !ok || f.serverID(w.Member) == "" || !f.Defined(r) {
				continue
			}
			e := f.judgeCustom(w, r, bounds)
			e.Tags = turns.tags(w, r)
			l.Add(e)
		}
	},
}

func (f *facts) judgeCustom(w *fact.Write, r fact.Resource, bounds law.Bounds) law.Entry {
	name, id := r.StorageVersionName(), f.serverID(w.Member)
	e := law.Entry{Ending: law.Met, About: name, Member: w.Member, Began: f.When(w.Stored)}
	s := f.serverOf(w.Member, w.Stored.Revision)
	change := f.StorageVersion(name).ChangeAt(id, w.Stored.Revision)
	made := f.definedBy(name, w.Stored.Revision)
	said, since := "nothing", int64(fact.Never)
	switch {
	case s.silent():
		e.Ending, e.Why = law.Excused, "the server has no StorageVersion API, and announces nothing"
		return e
	case change != nil && change.Present() && change.Entry.Encoding == w.APIVersion:
		return e
	case change != nil && change.Present():
		said = change.Entry.Encoding
	case change != nil && (made == nil || change.Revision > made.Revision):
		// That the definition before was taken away explains nothing of what became of the
		// announcement under this one.
		if made != nil {
			since = f.When(*made).Earliest
		}
		if f.excuseWithdrawn(&e, w, s, change, bounds, since) {
			return e
		}
	}
	e.Ending, e.Evidence, e.Release = law.Broken, []int64{w.Stored.Seq}, s.released()
	if change != nil {
		e.Evidence = law.Evidence(w.Stored.Seq, change.Seq)
	}
	if v := f.StorageVersion(name); v == nil || v.Revisions[0].Revision > w.Stored.Revision {
		e.Kind = kindNoCustom
	}
	e.Why = fmt.Sprintf("%s stored %s of the custom resource %s as %s at revision %d, when it had announced %s in %s", w.Member, w.Name, r.Resource, w.APIVersion, w.Stored.Revision, said, name)
	return e
}

// definedBy is when a custom resource was defined last by a revision; nil if it is not known.
func (f *facts) definedBy(name string, revision int64) *fact.Stamp {
	var made *fact.Stamp
	for i, s := range f.definitions[name] {
		if s.Revision <= revision {
			made = &f.definitions[name][i]
		}
	}
	return made
}

// versionTurns follow in which versions each member stored each custom resource.
type versionTurns map[memberResource]*versionTurn

type memberResource struct {
	member string
	fact.Resource
}

type versionTurn struct {
	now  string
	been map[string]bool
}

var onwardTags, backTags = []string{"write", "onward"}, []string{"write", "back"}

// tags are those of a write: whether the member went on to a version that was new to it, or
// back to one that it had left.
func (all versionTurns) tags(w *fact.Write, r fact.Resource) []string {
	key := memberResource{w.Member, r}
	on := all[key]
	if on == nil {
		on = &versionTurn{w.APIVersion, map[string]bool{}}
		all[key] = on
	}
	tags := writeTag
	switch {
	case w.APIVersion == on.now:
	case on.been[w.APIVersion]:
		tags = backTags
	default:
		tags = onwardTags
	}
	on.now = w.APIVersion
	on.been[w.APIVersion] = true
	return tags
}
