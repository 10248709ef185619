package check

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm05: a migration leaves labels, annotations, owners, finalizers, generation,
// uid, managed fields and contents of what it rewrites as they are. Others write too, and
// not all of them leave a tag: what is judged is a write that changed the version, one
// to an object that had been left alone since before the migration began, and one to an
// object of the harness's own that the migration had rewritten.
// Managed fields of a version that some member does not serve are lost with any
// write through that one, as the field manager of the API machinery has it.
type svm05 struct {
	findings
	same, told int64
}

func (c *svm05) Observe(w *World, ev *history.Event) {
	t := w.migrations.touched
	if t == nil || t.before == nil || t.before.metadata == "" {
		return
	}
	if t.late(w) {
		// What is under way when a migration ends is written all the same.
		if what := w.altered(t); what != "" {
			c.infer(w, at(t.before.seq, ev.Seq), "%s %s was written at revision %d after migration %s had ended, and its %s not what it was at revision %d",
				t.gr.resource, t.now.name, t.now.revision, w.migrations.begun[t.gr].name, what, t.before.revision)
		}
		return
	}
	if m := t.ahead(w); m != nil {
		if what := w.altered(t); what != "" {
			c.infer(w, at(t.before.seq, ev.Seq), "%s %s was written at revision %d before migration %s said that it ran, and its %s not what it was at revision %d",
				t.gr.resource, t.now.name, t.now.revision, m.name, what, t.before.revision)
		}
		return
	}
	if !t.byMigration() {
		return
	}
	if t.before.version == t.now.version && t.before.revision > t.during.started.revision && !t.again() && t.content == "" {
		return
	}
	what := w.altered(t)
	if what == "" {
		c.same++
		return
	}
	c.infer(w, at(t.before.seq, ev.Seq), "%s %s was written at revision %d while migration %s ran, and its %s not what it was at revision %d",
		t.gr.resource, t.now.name, t.now.revision, t.during.name, what, t.before.revision)
}

// altered says what of an object is not as it was before a change, with its verb;
// empty if all of it is.
func (w *World) altered(t *objectTouch) (what string) {
	if t.before.metadata != t.now.metadata {
		return "metadata is"
	}
	if version, same := w.sameManaged(t); !same {
		return "managed fields of " + version + " are"
	}
	return t.content
}

// sameManaged is whether the managed fields are as they were, or the version in
// which they are not.
func (w *World) sameManaged(t *objectTouch) (version string, same bool) {
	for _, version := range slices.Sorted(maps.Keys(t.before.managed)) {
		now, there := t.now.managed[version]
		if now != t.before.managed[version] && (there || w.servedByAll(t.gr, version)) {
			return version, false
		}
	}
	for _, version := range slices.Sorted(maps.Keys(t.now.managed)) {
		if _, there := t.before.managed[version]; !there {
			return version, false
		}
	}
	return "", true
}

// managedAlike is whether a change has left the managed fields as they were.
func (w *World) managedAlike(t *objectTouch) bool {
	_, same := w.sameManaged(t)
	return same
}

// servedByAll is whether no member is known not to serve a version of a resource.
func (w *World) servedByAll(gr groupResource, version string) bool {
	for _, member := range w.order {
		if r, ok := w.servers[member].listed[gr]; ok && !slices.Contains(r.Served, version) {
			return false
		}
	}
	return true
}

func (c *svm05) Finish(w *World) { c.told = w.migrations.contents.told() }

func (c *svm05) Observations() []Observation {
	return []Observation{
		{What: "objects rewritten with the same metadata", Seen: c.same, Need: needMigrated},
		{What: "contents of one resource that differed, and still did when it was stored in another version", Seen: c.told, Need: needContents},
	}
}
