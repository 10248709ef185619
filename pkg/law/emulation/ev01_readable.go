package emulation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ev01: an emulating server stores nothing in a version that the emulated release cannot
// read, nor any release that it is compatible with (KEP-4330, "StorageVersion Compatibility
// Versioning"). So while no member has raised what it emulates, all that is stored can be read
// after a rollback. What a release can read its own servers say in StorageVersions, in the
// same run. It does not see fields that an older release does not know, nor objects of
// resources that the older release does not have.
var ev01 = law.Each[*Facts, *storing]{
	Row: law.Row{ID: "EV-01", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Discovery}, Needs: []law.Need{
		{Name: "stored"}, {Name: "storedEach", Tag: differing, Each: true},
	}},
	Over: (*Facts).storings,
	End:  (*storing).readable,
}

// storing are objects of one resource that were stored alike.
type storing struct {
	*puts
	f    *Facts
	name string // of the StorageVersion
	// by are the servers of which one stored each object.
	by []*server
}

// storings are those of which an emulating server may have stored the objects.
func (f *Facts) storings() []*storing {
	var out []*storing
	for _, p := range f.puts {
		r, ok := f.ResourceOf(p.apiVersion, p.kind)
		if by := f.writers(p); ok && f.Hosted(r) == fact.HostedBuiltIn && slices.ContainsFunc(by, func(s *server) bool { return s.emulates }) {
			out = append(out, &storing{p, f, r.StorageVersionName(), by})
		}
	}
	return out
}

// writers are the servers that may have stored what was put: those of the member through
// which the harness wrote, or all that may have lived.
func (f *Facts) writers(p *puts) []*server {
	at := f.when(p)
	return fact.Where(f.servers(), func(s *server) bool { return (p.writer == "" || p.writer == s.Member) && s.perhaps(at) })
}

// readers are what servers behave like, which told of a resource, that have to be able to read
// what some servers store, whichever of them did.
func (f *Facts) readers(name string, by []*server) (readers []behavior) {
	for b, of := range f.plain() {
		if of[name] != nil && !slices.ContainsFunc(by, func(s *server) bool { return !s.owes(b.version) }) {
			readers = append(readers, b)
		}
	}
	slices.SortFunc(readers, func(a, b behavior) int { return strings.Compare(a.version, b.version) })
	return readers
}

func (w *storing) readable(law.Bounds) law.Entry {
	e, readers := law.Of(w.name, w.f.When(w.first)).By(w.writer).For(w.times), w.f.readers(w.name, w.by)
	if len(readers) == 0 {
		return law.Entry{}
	}
	for _, b := range readers {
		if t := w.f.plain()[b][w.name]; !slices.Contains(t.readable, w.apiVersion) {
			return e.Broken("%s stored %s as %s, and servers of %s read only %v", w.who(), w.name, w.apiVersion, b.version, t.readable).
				Shown(w.by[0].Started.Seq, w.first.Seq, t.seq)
		}
	}
	if w.by[0].emulates {
		return e.Met(w.by[0].tags(w.name)...)
	}
	return e.Met()
}

// who is who stored the objects, in words.
func (w *storing) who() string {
	said := fact.Each(w.by, func(s *server) string { return fmt.Sprintf("%s (%s)", s.Member, s.Release) })
	return strings.Join(said, " or ")
}
