package discovery

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad31: acceptedTypes are the kinds that a subresource accepts; an empty list says that it
// accepts no standard types (KEP-3352, APISubresourceDiscovery). What is updated is sent
// back in the kind in which it was read, and what is created in the kind that discovery
// names. Options of a connection are no body.
var ad31 = law.Each[*Facts, accepting]{
	Row:  law.Row{ID: "AD-31", Takes: law.AnyRun, Sources: documents, Needs: each("update")},
	Over: (*Facts).acceptings,
	End: func(a accepting, _ law.Bounds) law.Entry {
		e := a.document.entry(a.of.String() + " " + a.name)
		if !slices.Contains(a.kinds, a.resource.Kind) {
			return e.Broken("%s in %s of %s is written in the kind %s, and accepts %v", a.name, a.of, a.document.member.name, a.resource.Kind, a.kinds).Shown(a.document.seq)
		}
		return e.Met(tagsOf(slices.Contains(a.resource.Verbs, "update"), "update")...)
	},
}

func tagsOf(fits bool, tag string) []string {
	if fits {
		return []string{tag}
	}
	return nil
}

// accepting is a subresource that can be written, as an aggregated document has it.
type accepting struct {
	document *answer
	of       groupVersion
	name     string
	resource *history.ListedResource
	kinds    []string
}

// acceptings are those of the servers themselves in the documents of quiet looks.
func (f *Facts) acceptings() (out []accepting) {
	for _, s := range f.quiet() {
		for _, path := range []string{corePath, groupsPath} {
			document := s.steady(path)
			for _, of := range document.told().all() {
				if s.member.remote(of, s.to) || s.member.isForeign(of, s.from) {
					continue
				}
				out = append(out, f.acceptingIn(document, of)...)
			}
		}
	}
	return out
}

// acceptingIn are those of a group-version. Older histories do not tell of them.
func (f *Facts) acceptingIn(document *answer, of groupVersion) (out []accepting) {
	v := document.listing.version(of)
	accepts := f.accepts[v.Accepted]
	for _, name := range law.SortedKeys(accepts) {
		parent, below, _ := strings.Cut(name, "/")
		resource := find(document.listing.resources(of), parent)
		if resource == nil {
			continue
		}
		sub := find(resource.Subresources, below)
		if sub == nil || sub.Kind == "" || strings.HasSuffix(sub.Kind, "Options") {
			continue
		}
		out = append(out, accepting{document, of, name, sub, accepts[name]})
	}
	return out
}
