package migration

import (
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
	// content says what is wrong with the content, if only the migration can have written.
	content string
	// rewrote is the migration that rewrote the object last, if that was the change before.
	rewrote *Migration
}

// byMigrator is whether no other client than the migrator is known to have written.
func (t *Touch) byMigrator() bool { return t.During != nil && t.untagged() }

// untagged is whether it changes an object that existed, without a tag.
func (t *Touch) untagged() bool { return !t.tagged() && !t.New && !t.Gone }

// converts is whether it stores an object in another version.
func (t *Touch) converts() bool {
	return !t.New && !t.Gone && t.Before.version != t.Change.version
}

// again is whether it is a second write by the migrator: other clients write with a tag
// to what the harness created.
func (t *Touch) again() bool {
	return t.byMigrator() && t.rewrote == t.During && len(t.Object.tags) > 0
}

// touches calls do with each change of a resource, in order.
func (f *Facts) touches(r Resource, do func(*Touch)) {
	p := f.population(r)
	var running []*Migration
	for _, m := range f.Migrations {
		if m.Of == r && was(m.Started) {
			running = append(running, m)
		}
	}
	match := newContents(sameForms[r] || f.custom(r))
	rewrote := make([]*Migration, p.objects)
	for i := range p.changes {
		c := &p.changes[i]
		t := Touch{Change: c, Before: c.Before()}
		t.New = t.Before == nil || t.Before.Gone
		// Of several that run, the one that was created first counts.
		for _, m := range running {
			if m.ran(c.Revision) {
				t.During = m
				break
			}
		}
		t.rewrote, rewrote[c.Object.number] = rewrote[c.Object.number], nil
		if t.byMigrator() {
			t.content = match.weigh(&t)
			if t.converts() {
				rewrote[c.Object.number] = t.During
			}
		}
		do(&t)
	}
}

// resources are those with objects, definitions or migrations, in order.
func (f *Facts) resources() []Resource {
	return cached(f, "resources", func() []Resource {
		var out []Resource
		for r := range f.populations {
			out = append(out, r)
		}
		for r := range f.definitions {
			if f.populations[r] == nil {
				out = append(out, r)
			}
		}
		for _, m := range f.Migrations {
			if !slices.Contains(out, m.Of) {
				out = append(out, m.Of)
			}
		}
		slices.SortFunc(out, compareResources)
		return out
	})
}

// rewritten are the changes with which a migration stored objects in another version.
func (m *Migration) rewritten() []*Change {
	type key struct{ of Resource }
	all := cached(m.facts, key{m.Of}, func() map[*Migration][]*Change {
		out := map[*Migration][]*Change{}
		m.facts.touches(m.Of, func(t *Touch) {
			if t.byMigrator() && t.converts() {
				out[t.During] = append(out[t.During], t.Change)
			}
		})
		return out
	})
	return all[m]
}

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
// made; empty if nothing is.
func (c *contents) weigh(t *Touch) string {
	before, now := t.Before, t.Change
	switch {
	case before.Content == 0 || now.Content == 0:
		return ""
	case (before.version == now.version || c.same) && before.Content != now.Content:
		return "content is"
	case before.version == now.version:
		return "" // nothing can be learned of it
	}
	forth := storedForm{before.version, now.version, before.Content}
	back := storedForm{before.version, now.version, now.Content}
	if first, ok := c.became[forth]; ok && first.content != now.Content {
		return "content (which " + first.name + " had too, and was left with another one) is"
	}
	if first, ok := c.came[back]; ok && first.content != before.Content {
		return "content (now that of " + first.name + ", from which it had differed) is"
	}
	c.became[forth] = transition{now.Content, now.Object.Name}
	c.came[back] = transition{before.Content, now.Object.Name}
	return ""
}

// told is how many contents migrations of a resource told from each other before and
// after, between the two versions with the most.
func (f *Facts) told(r Resource) int64 {
	seen := map[storedForm]bool{}
	f.touches(r, func(t *Touch) {
		if t.byMigrator() && t.converts() && t.content == "" && t.Before.Content != 0 && t.Content != 0 {
			seen[storedForm{t.Before.version, t.version, t.Before.Content}] = true
		}
	})
	count, most := map[storedForm]int64{}, int64(0)
	for form := range seen {
		form.content = 0
		count[form]++
		most = max(most, count[form])
	}
	return most
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
	for _, b := range t.Before.Managed {
		i := slices.IndexFunc(t.Managed, func(n managedFields) bool { return n.version == b.version })
		if i >= 0 && t.Managed[i] != b || i < 0 && f.servedByAll(t.Object.in.of, versions[b.version], t.Seq) {
			return versions[b.version]
		}
	}
	for _, n := range t.Managed {
		if !slices.ContainsFunc(t.Before.Managed, func(b managedFields) bool { return n.version == b.version }) {
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
