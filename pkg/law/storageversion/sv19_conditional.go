package storageversion

import (
	"path"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv19: the collector's writes are conditional, so that an entry which is added at the same
// moment is never lost (KEP-2339, garbage collection: both the delete and the update are
// preconditioned with the revision that was read). It is put to the test where a fault holds
// such a write back, and a server that takes part puts its entry into the very object
// meanwhile: what was decided before must not happen.
var sv19 = law.Written[*facts]{
	Row: law.Row{ID: "SV-19", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "deletes", Tag: "delete"}, {Name: "updates", Tag: "update"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		for _, x := range f.losses() {
			if !f.raced(x, bounds.Of("underWay")) {
				continue // SV-20's
			}
			what := "a write to"
			if x.withObject {
				what = "the removal of"
			}
			l.Broken(x.v.Name, f.When(x.Stamp), []int64{x.Seq}, "%s %s took the entry of %s away, which takes part and had come while that write was under way", what, x.v.Name, x.id)
		}
		for _, x := range f.exchanges {
			// What failed for want of time, or of permission, shows no precondition.
			if name := x.storageVersion(); name != "" && x.Sent && x.Held > 0 && (x.Code == 409 || x.Code >= 200 && x.Code < 300) && f.cameMeanwhile(x, name) {
				tag := "update"
				if x.Method == "DELETE" {
					tag = "delete"
				}
				l.Met(name, f.When(x.Stamp), tag)
			}
		}
	},
}

// storageVersionsPath is where API servers have StorageVersions.
const storageVersionsPath = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"

// storageVersion is the name of the StorageVersion that it writes to; empty if it is none.
func (x exchange) storageVersion() string {
	name := strings.TrimSuffix(x.Path, "/status")
	if !strings.HasPrefix(name, storageVersionsPath) {
		return ""
	}
	return path.Base(name)
}

// cameMeanwhile is whether a server that takes part, and that the harness plays, put its
// entry in an object while a write to it was held back.
func (f *facts) cameMeanwhile(x exchange, name string) bool {
	v := f.StorageVersion(name)
	if v == nil {
		return false
	}
	for _, a := range f.harness.added[name] {
		if a.sent <= x.From || a.answered >= x.From+x.Held {
			continue
		}
		for _, id := range v.Servers() {
			if c := v.ChangeAt(id, a.revision); c != nil && c.Revision == a.revision && c.Present() && f.TakesPart(id, a.revision) {
				return true
			}
		}
	}
	return false
}
