package migration

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
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
	// rewrote is the migration that rewrote the object last, if that was the change before.
	rewrote *Migration
}

func newTouch(c *Change) Touch {
	t := Touch{Change: c, Before: c.Before()}
	t.New = t.Before == nil || t.Before.Gone
	return t
}

// byMigrator is whether no other client than the migrator is known to have written.
func (t *Touch) byMigrator() bool { return t.During != nil && t.untagged() }

// untagged is whether it changes an object that existed, without a tag.
func (t *Touch) untagged() bool { return !t.tagged() && !t.New && !t.Gone }

// converts is whether it stores an object in another version.
func (t *Touch) converts() bool { return !t.New && !t.Gone && t.Before.version != t.Change.version }

// again is whether it is a second write by the migrator: other clients write with a tag
// to what the harness created.
func (t *Touch) again() bool {
	return t.byMigrator() && t.rewrote == t.During && t.Object.tagged
}

// touches are all changes of a resource, in order.
func (f *Facts) touches(r Resource) iter.Seq[*Touch] {
	return func(yield func(*Touch) bool) {
		p, begun := f.population(r), f.begunOf(r)
		match := newContents(sameForms[r] || f.custom(r))
		rewrote := make([]*Migration, p.objects)
		for i := range p.changes {
			c := &p.changes[i]
			t := newTouch(c)
			// Of several that run, the one that was created first counts.
			if j := slices.IndexFunc(begun, func(m *Migration) bool { return m.ran(c.Revision) }); j >= 0 {
				t.During = begun[j]
			}
			t.rewrote, rewrote[c.Object.number] = rewrote[c.Object.number], nil
			if t.byMigrator() {
				t.content, t.learned = match.weigh(&t)
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

// allTouches are the changes of all resources.
func (f *Facts) allTouches() iter.Seq[*Touch] {
	return func(yield func(*Touch) bool) {
		for _, r := range f.resources() {
			for t := range f.touches(r) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// rewritten are the changes with which a migration stored objects in another version.
func (m *Migration) rewritten() []*Change {
	type key struct{ of Resource }
	return fact.Cached(m.History, key{m.Of}, func() map[*Migration][]*Change {
		out := map[*Migration][]*Change{}
		for t := range m.touches(m.Of) {
			if t.byMigrator() && t.converts() {
				out[t.During] = append(out[t.During], t.Change)
			}
		}
		return out
	})[m]
}

// sameForms are the built-in resources, of those that the harness writes, whose versions
// have the same fields. All custom resources that it defines have.
var sameForms = map[Resource]bool{{"storage.k8s.io", "volumeattributesclasses"}: true}

// contents matches what objects hold, by the digest of it, before and after a migration
// stores them in another version. The forms of two versions may differ, and only the API
// server knows how the one becomes the other; but objects that held the same hold the
// same afterwards, and those that held something else, something else.
type contents struct {
	// same is whether the versions of the resource have the same fields.
	same         bool
	became, came map[storedForm]transition
}

type storedForm struct {
	from, to int32
	content  uint64
}

// transition is what a content became, or came of, and the object that showed it.
type transition struct {
	content uint64
	name    string
}

func newContents(same bool) *contents {
	return &contents{same: same, became: map[storedForm]transition{}, came: map[storedForm]transition{}}
}

// weigh says what is wrong with the content after a write that only a migrator can have
// made, empty if nothing is; and whether it shows for the first time what a content becomes.
func (c *contents) weigh(t *Touch) (wrong string, learned bool) {
	before, now := t.Before, t.Change
	switch {
	case before.Content == 0 || now.Content == 0:
		return "", false
	case (before.version == now.version || c.same) && before.Content != now.Content:
		return "content is", false
	case before.version == now.version:
		return "", false // nothing can be learned of it
	}
	forth := storedForm{before.version, now.version, before.Content}
	back := storedForm{before.version, now.version, now.Content}
	first, known := c.became[forth]
	if known && first.content != now.Content {
		return "content (which " + first.name + " had too, and was left with another one) is", false
	}
	if first, ok := c.came[back]; ok && first.content != before.Content {
		return "content (now that of " + first.name + ", from which it had differed) is", false
	}
	c.became[forth] = transition{now.Content, now.Object.Name}
	c.came[back] = transition{before.Content, now.Object.Name}
	return "", !known
}

// altered says what of an object is not as it was before a change, with its verb; empty
// if all of it is.
func (f *Facts) altered(t *Touch) string {
	if t.Before.Metadata != t.Metadata {
		return "metadata is"
	}
	if version := f.managedChanged(t); version != "" {
		return "managed fields of " + version + " are"
	}
	return t.content
}

// managedChanged is a version whose managed fields are not as they were; empty if there is
// none. Managed fields of a version that some member does not serve are lost with any
// write through that one.
func (f *Facts) managedChanged(t *Touch) string {
	versions := t.Object.in.versions
	of := func(in []managedFields, version int32) int {
		return slices.IndexFunc(in, func(m managedFields) bool { return m.version == version })
	}
	for _, b := range t.Before.Managed {
		i := of(t.Managed, b.version)
		if i >= 0 && t.Managed[i] != b || i < 0 && f.servedByAll(t.Object.in.of, versions[b.version], t.Seq) {
			return versions[b.version]
		}
	}
	for _, n := range t.Managed {
		if of(t.Before.Managed, n.version) < 0 {
			return versions[n.version]
		}
	}
	return ""
}

// sameObject is whether a change has an object's metadata and managed fields as they were.
func (f *Facts) sameObject(t *Touch) bool {
	return t.Metadata != 0 && t.Before.Metadata == t.Metadata && f.managedChanged(t) == ""
}

// when is the moment of a change.
func (f *Facts) when(c *Change) fact.Moment { return f.When(c.Stamp) }
