package migration

import (
	"hash/fnv"
	"maps"
	"slices"
	"sort"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// population is all that etcd stored of one resource, in the order of revisions. There may
// be a hundred thousand objects, so that a Change is compact.
type population struct {
	*Facts
	of       Resource
	changes  []Change
	versions []string
	objects  int32
	// tags are the tagged writes that were applied to each object, or to what had its key
	// before.
	tags map[tag]struct{}
}

// Object is what is stored under one key, also if it is deleted and created again.
type Object struct {
	// Name has the namespace in front where there is one.
	Name string
	in   *population
	// number counts the objects, last is the index of its latest Change, and tagged whether
	// a tagged write made any.
	number, last int32
	tagged       bool
}

// Change is one change of an object.
type Change struct {
	fact.Stamp
	Object *Object
	// before is the index of the change before it; -1 if there is none.
	before, version int32
	// Gone is whether it was deleted, Again whether its tag had been applied to what has its
	// key before, and Deleting whether it is being deleted, and a finalizer holds it.
	Gone, Again, Deleting bool
	// Protected is whether it has the finalizer of the controller that protects its resource.
	Protected bool
	// By is the tagged write that made it; the zero value for any other client.
	By writeID
	// Metadata and Content are digests of digests, 0 where there is none.
	Metadata, Content uint64
	Managed           []managedFields
	created           int64
}

// managedFields is a digest of the managed fields of one version.
type managedFields struct {
	version int32
	digest  uint64
}

// writeID is a tagged write by the member that took it and its number there.
type writeID struct {
	member string
	number int64
}

// tag is a tagged write of an object.
type tag struct {
	object int32
	by     writeID
}

func digest(s string) uint64 {
	if s == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

func (f *Facts) observeObject(ev *history.Event) {
	s, o := ev.Stored, f.keys[ev.Stored.Key]
	if s.Type == history.StoredDelete {
		if o != nil && !o.in.changes[o.last].Gone {
			o.add(Change{Stamp: fact.StampOf(ev), Object: o, Gone: true})
		}
		return
	}
	if o == nil {
		// Whatever its bytes say later, an object stays of its resource.
		group, resource, ok := s.Hosted()
		r := Resource{group, resource}
		if !ok || !f.written(r) && f.definition(r).At(s.Revision) == nil {
			return
		}
		p := f.population(r)
		o = &Object{Name: s.Name, in: p, number: p.objects, last: -1}
		p.objects++
		f.keys[s.Key] = o
	}
	c := Change{
		Stamp: fact.StampOf(ev), Object: o, version: o.in.version(s.APIVersion), created: s.Created, Deleting: s.Deleting, Protected: s.Protected,
		Metadata: digest(s.Metadata), Content: digest(s.Content),
	}
	for _, v := range slices.Sorted(maps.Keys(s.Managed)) {
		c.Managed = append(c.Managed, managedFields{o.in.version(v), digest(s.Managed[v])})
	}
	if s.Writer != "" {
		c.By, o.tagged = writeID{s.Writer, s.Write}, true
		t := tag{o.number, c.By}
		_, c.Again = o.in.tags[t]
		o.in.tags[t] = struct{}{}
	}
	f.showsBegun(o.add(c))
}

func (f *Facts) population(r Resource) *population {
	if f.populations[r] == nil {
		f.populations[r] = &population{Facts: f, of: r, tags: map[tag]struct{}{}}
	}
	return f.populations[r]
}

func (p *population) version(v string) int32 {
	i := slices.Index(p.versions, v)
	if i < 0 {
		i = len(p.versions)
		p.versions = append(p.versions, v)
	}
	return index(i)
}

// index narrows an index of events, versions or members, since a judge keeps many of them.
// history.MaxSize bounds a history to fewer than 2^31 events.
func index(i int) int32 {
	return int32(i) //nolint:gosec // G115: history.MaxSize bounds it, as said above.
}

func (o *Object) add(c Change) *Change {
	c.before, o.last = o.last, index(len(o.in.changes))
	o.in.changes = append(o.in.changes, c)
	return &o.in.changes[o.last]
}

// Version is the one that it is stored in.
func (c *Change) Version() string { return c.Object.in.versions[c.version] }

// tagged is whether a tagged write made it.
func (c *Change) tagged() bool { return c.By != writeID{} }

// when is the moment of a change.
func (c *Change) when() fact.Moment { return c.Object.in.When(c.Stamp) }

// String is the object with its resource.
func (c *Change) String() string { return c.Object.in.of.Name + " " + c.Object.Name }

// Entry is the obligation of a change.
func (c *Change) Entry() law.Entry { return law.Of(c.Object.Name, c.when()).Shown(c.Seq) }

// Before is the change before; nil if there is none.
func (c *Change) Before() *Change {
	if c.before < 0 {
		return nil
	}
	return &c.Object.in.changes[c.before]
}

// until are the changes that were made up to a revision.
func (p *population) until(revision int64) []Change {
	return p.changes[:sort.Search(len(p.changes), func(i int) bool { return p.changes[i].Revision > revision })]
}

// at are the objects that existed at a revision, each by its latest change until then, in
// the order of those.
func (p *population) at(revision int64) []*Change {
	made, seen := p.until(revision), make([]bool, p.objects)
	var out []*Change
	for i := len(made) - 1; i >= 0; i-- {
		c := &made[i]
		if !seen[c.Object.number] && !c.Gone {
			out = append(out, c)
		}
		seen[c.Object.number] = true
	}
	slices.Reverse(out)
	return out
}

// counts are how many objects are stored, in all and in each version.
type counts struct {
	total int64
	in    map[string]int64
}

// apply takes the next change in.
func (n *counts) apply(c *Change) {
	if before := c.Before(); before != nil && !before.Gone {
		n.in[before.Version()]--
		n.total--
	}
	if !c.Gone {
		n.in[c.Version()]++
		n.total++
	}
}

// storedAt counts the objects of a resource at a revision.
func (f *Facts) storedAt(r Resource, revision int64) counts {
	n, made := counts{in: map[string]int64{}}, f.population(r).until(revision)
	for i := range made {
		n.apply(&made[i])
	}
	return n
}
