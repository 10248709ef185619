package migration

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

var (
	namespaces     = Resource{"", "namespaces"}
	definitionKind = Resource{"apiextensions.k8s.io", "customresourcedefinitions"}
)

// removalOf is the namespace or the definition that etcd keeps under a key, with which all
// goes that is in it or of it.
func removalOf(key string) (removal, bool) {
	if namespace, ok := strings.CutPrefix(key, namespacePrefix); ok {
		return removal{namespaces, namespace}, true
	}
	_, name, ok := strings.Cut(key, definitionInfix)
	return removal{definitionKind, name}, ok
}

// keepers are the namespace that an object is in, if any, and the definition that its
// resource may have.
func keepers(of Resource, name string) []removal {
	out := []removal{{definitionKind, of.Name + "." + of.Group}}
	if namespace, _, ok := strings.Cut(name, "/"); ok {
		out = append(out, removal{namespaces, namespace})
	}
	return out
}

// wentWith is whether a client had asked to delete a namespace or a definition, so that
// what it kept went before it did.
func (f *Facts) wentWith(keeper removal, at fact.Moment) bool {
	for _, r := range f.requests.deletions[keeper] {
		if r.from > at.Latest {
			continue
		}
		before := false
		for _, gone := range f.removed[keeper] {
			before = before || gone.Revision < at.Revision && f.When(gone).Latest >= r.from
		}
		if !before {
			return true
		}
	}
	return false
}

// goneWithNamespace is whether an object's namespace went after it, by a request of a
// client or not.
func (f *Facts) goneWithNamespace(c *Change) bool {
	namespace, _, ok := strings.Cut(c.Object.Name, "/")
	if !ok {
		return false
	}
	for _, gone := range f.removed[removal{namespaces, namespace}] {
		if gone.Revision > c.Revision {
			return true
		}
	}
	return false
}

// unasked calls do with each deletion of an object that no client asked for: each request
// explains one deletion after it was sent.
func (f *Facts) unasked(r Resource, do func(*Change)) {
	p := f.population(r)
	used := map[string]int{}
	for i := range p.changes {
		c := &p.changes[i]
		if !c.Gone {
			continue
		}
		at, name := f.when(c), c.Object.Name
		asked := f.requests.deletions[removal{r, name}]
		if n := used[name]; n < len(asked) && asked[n].from <= at.Latest {
			used[name]++
			continue
		}
		with := false
		for _, k := range keepers(r, name) {
			with = with || f.wentWith(k, at)
		}
		if !with {
			do(c)
		}
	}
}

// deletedAhead are the objects of before its start that users deleted while it ran and
// while it had still to rewrite them.
func (m *Migration) deletedAhead() []*Change {
	return cached(m.facts, deletedOf{m}, func() []*Change {
		var out []*Change
		m.facts.touches(m.Of, func(t *Touch) {
			during := t.During == m || m.spurned() && m.lived(t.Revision)
			if t.Gone && during && t.Before.created < m.begun().Revision && m.ahead(t) {
				out = append(out, t.Change)
			}
		})
		return out
	})
}

type deletedOf struct{ m *Migration }

// ahead is whether the migration has still to rewrite what was there before a change, as
// far as is known: one that began without an agreement goes by that of now.
func (m *Migration) ahead(t *Touch) bool {
	target := m.target()
	if target.Version == "" {
		if target.Untold && m.facts.agreement(m.Of, t.Revision).Version == "" {
			return t.rewrote != m
		}
		target.Version = m.facts.agreement(m.Of, t.Revision).Version
	}
	return target.Version != "" && t.Before.Version() != target.Version
}
