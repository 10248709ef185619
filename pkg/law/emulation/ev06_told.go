package emulation

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ev06: the entry of an emulating server in a StorageVersion names the version in which
// servers of the emulated release store the resource (KEP-4330, "StorageVersion Compatibility
// Versioning"). That the server really stores in what its entry names, SV-15 judges. It does
// not see a resource that servers of the emulated release have no entry for, nor a release
// of which no server ran.
var ev06 = law.Each[*Facts, announcement]{
	Row: law.Row{ID: "EV-06", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "announced"}, {Name: "announcedEach", Each: true}, {Name: "differing", Tag: differing},
	}},
	Over: (*Facts).announcements,
	End:  announcement.asEmulated,
}

// differing is the tag of what the emulated release and the binary's own do differently.
const differing = "differing"

// announcement is an entry of an emulating server.
type announcement struct {
	*server
	fact.EntryChange
	name string
	// want is what servers of the emulated release told; nil where none did.
	want *told
}

func (f *Facts) announcements() []announcement {
	var out []announcement
	plain := f.plain()
	for _, s := range f.emulating() {
		for _, v := range f.StorageVersions() {
			for _, c := range f.Announced(s.Process, v) {
				out = append(out, announcement{s, c, v.Name, plain[s.behavior][v.Name]})
			}
		}
	}
	return out
}

func (a announcement) asEmulated(law.Bounds) law.Entry {
	e := law.Of(a.name, a.f.When(a.Stamp)).By(a.Member)
	switch {
	case a.want == nil:
		return e
	case a.f.harnessMade(a.name, a.Stamp) != fact.No:
		return e.Excused("the harness may have written the entry")
	case !slices.Contains(a.want.encodings, a.Is.Encoding):
		return e.Broken("in %s, %s runs %s and says that it stores %s, and servers of %s say %v",
			a.name, a.Member, a.Release, a.Is.Encoding, a.version, a.want.encodings).Shown(a.Started.Seq, a.Seq, a.want.seq)
	}
	return e.Met(a.tags(a.name)...)
}

// tags are those of an obligation of the server about how it stores a resource.
func (s *server) tags(name string) []string { return tagIf(s.differs(name), differing) }

func tagIf(holds bool, tag string) []string {
	if holds {
		return []string{tag}
	}
	return nil
}
