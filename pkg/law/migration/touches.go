package migration

import (
	"iter"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Touch is a Change with what was going on when it was made.
type Touch struct {
	*Change
	// Before is the change before it; nil for a new key. New is whether the object did not
	// exist.
	Before *Change
	New    bool
	// During is the migration of the resource that ran; nil if none did.
	During *Migration
	// content says what is wrong with the content, if only the migration can have written;
	// learned is whether it shows what one content becomes.
	content string
	learned bool
	// again is whether the migration that rewrote the object last has made it, too: other
	// clients write with a tag to what the harness created.
	again bool
}

func newTouch(c *Change) Touch {
	t := Touch{Change: c, Before: c.Before()}
	t.New = t.Before == nil || t.Before.Gone
	return t
}

// Entry is the obligation of a change, with the one before as evidence.
func (t *Touch) Entry() law.Entry {
	if t.Before == nil {
		return t.Change.Entry()
	}
	return t.Change.Entry().Shown(t.Before.Seq, t.Seq)
}

// untagged is whether it changes an object that existed, without a tag, and byMigrator
// whether no other client than the migrator is known to have done so.
func (t *Touch) untagged() bool   { return !t.tagged() && !t.New && !t.Gone && !t.protects() }
func (t *Touch) byMigrator() bool { return t.During != nil && t.untagged() }

// protects is whether the controller that protects the resource adds its finalizer, or removes it
// from an object that is being deleted.
func (t *Touch) protects() bool {
	if t.Protected {
		return !t.Before.Protected
	}
	return t.Before.Protected && t.Before.Deleting
}

// converts is whether it stores an object in another version, and rewrites whether no
// client with a tag did so.
func (t *Touch) converts() bool { return !t.New && !t.Gone && t.Before.version != t.Change.version }
func (t *Touch) rewrites() bool { return t.untagged() && t.converts() }

// touches are all changes of resources, in order.
func (f *Facts) touches(of ...Resource) iter.Seq[*Touch] {
	return func(yield func(*Touch) bool) {
		for _, r := range of {
			begun, p := f.begunOf(r), f.population(r)
			match, rewrote := newContents(sameForms[r] || f.custom(r)), make([]*Migration, p.objects)
			for i := range p.changes {
				c := &p.changes[i]
				t := newTouch(c)
				// Of several that run, the one that was created first counts.
				if j := slices.IndexFunc(begun, func(m *Migration) bool { return m.ran(c.Revision) }); j >= 0 {
					t.During = begun[j]
				}
				last := rewrote[c.Object.number]
				rewrote[c.Object.number] = nil
				if t.byMigrator() {
					t.content, t.learned = match.weigh(&t)
					t.again = last == t.During && c.Object.tagged
					if t.converts() {
						rewrote[c.Object.number] = t.During
					}
				}
				if !yield(&t) {
					return
				}
			}
		}
	}
}

// neverTouches is a law by which no change of an object is a breach: what ends one is
// entered.
func neverTouches(breach func(*Touch, law.Bounds) law.Entry) law.Law[*Facts] {
	return written{Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for t := range f.touches(f.resources()...) {
			l.Add(breach(t, bounds))
		}
	}}
}

// tooLate ends what was rewritten when a migration had to have stopped: longer afterwards
// than what was on its way lands.
func (t *Touch) tooLate(stop fact.Moment, within time.Duration, what string) law.Entry {
	e := t.Entry().Shown(stop.Seq, t.Seq)
	switch least, most := stop.Until(e.Began); {
	case least > within:
		e = e.Broken("%s was rewritten at revision %d, %v after %s", t, t.Revision, rounded(least), what)
		return law.UnlessStarved(t.Object.in.History, e, least-within, fact.Constant(fact.Yes), stop.Latest, e.Began.Earliest)
	case most > within:
		return e.Unclear("%s may have been rewritten too late after %s", t, what)
	}
	return law.Entry{}
}

// rewritten are the changes with which a migration stored objects in another version.
func (m *Migration) rewritten() []*Change {
	type key struct{ of Resource }
	return fact.Cached(m.History, key{m.Of}, func() map[*Migration][]*Change {
		out := map[*Migration][]*Change{}
		for t := range m.touches(m.Of) {
			if t.During != nil && t.rewrites() {
				out[t.During] = append(out[t.During], t.Change)
			}
		}
		return out
	})[m]
}

// writer is the migration that made a change, as far as can be told; nil if it was none.
// Other clients write too, and not all of them leave a tag: a migration made a write that
// changed the version, one to an object that had been left alone since before it began, and
// one to an object of the harness that it had rewritten.
func (t *Touch) writer() *Migration {
	m := t.During
	switch {
	case !t.untagged() || t.Before.Metadata == 0:
		return nil
	case m != nil && !t.converts() && t.Before.Revision > m.Started.Revision && !t.again && t.content == "":
		return nil // a controller of the resource may have written
	case m != nil || !t.converts():
		return m
	}
	if m = t.justEnded(); m == nil {
		m = t.waits()
	}
	return m
}

// justEnded is the migration of the resource that ended last before a change, if what was
// on its way then may land as late.
func (t *Touch) justEnded() *Migration {
	f := t.Object.in
	ended := fact.Where(f.begunOf(f.of), func(m *Migration) bool { return m.end().Revision < t.Revision })
	if n := len(ended); n > 0 {
		if least, _ := f.When(ended[n-1].end()).Until(t.when()); least <= restLands() {
			return ended[n-1]
		}
	}
	return nil
}

// waits is the oldest migration of the resource that had not begun; nil if there is none.
func (t *Touch) waits() *Migration {
	f := t.Object.in
	if i := slices.IndexFunc(f.Migrations, func(m *Migration) bool { return m.Of == f.of && m.waited(t.Revision) }); i >= 0 {
		return f.Migrations[i]
	}
	return nil
}

// altered says what of an object is not as it was before a change, with its verb; empty
// if all of it is.
func (t *Touch) altered() string {
	if t.Before.Metadata != t.Metadata {
		return "metadata is"
	}
	if version := t.managedChanged(); version != "" {
		return "managed fields of " + version + " are"
	}
	return t.content
}

// managedChanged is a version whose managed fields are not as they were; empty if there is
// none. Managed fields of a version that some member does not serve are lost with any
// write through that one.
func (t *Touch) managedChanged() string {
	f := t.Object.in
	of := func(in []managedFields, version int32) int {
		return slices.IndexFunc(in, func(m managedFields) bool { return m.version == version })
	}
	for _, b := range t.Before.Managed {
		i := of(t.Managed, b.version)
		if i >= 0 && t.Managed[i] != b || i < 0 && f.servedByAll(f.of, f.versions[b.version], t.Seq) {
			return f.versions[b.version]
		}
	}
	for _, n := range t.Managed {
		if of(t.Before.Managed, n.version) < 0 {
			return f.versions[n.version]
		}
	}
	return ""
}

// sameObject is whether a change has an object's metadata and managed fields as they were.
func (t *Touch) sameObject() bool {
	return t.Metadata != 0 && t.Before.Metadata == t.Metadata && t.managedChanged() == ""
}
