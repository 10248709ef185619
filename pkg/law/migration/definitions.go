package migration

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Definition is one revision of a CustomResourceDefinition.
type Definition struct {
	fact.Stamp
	// Made is the number of the event that told of it first: one that is made again
	// counts its generations from the beginning.
	Made int64
	// CustomResource is nil where it was deleted.
	*history.CustomResource
}

func (f *Facts) observeDefinition(ev *history.Event) {
	s := ev.Stored
	d := Definition{Stamp: fact.StampOf(ev), Made: ev.Seq, CustomResource: s.CustomResource}
	var r Resource
	switch {
	case s.Type == history.StoredDelete:
		d.CustomResource = nil
		r.Name, r.Group, _ = strings.Cut(s.Key[strings.LastIndex(s.Key, "/")+1:], ".")
	case s.CustomResource == nil:
		return
	default:
		r = Resource{s.CustomResource.Group, s.CustomResource.Resource}
	}
	if before := f.definition(r, s.Revision); before != nil {
		d.Made = before.Made
	}
	f.definitions[r] = append(f.definitions[r], d)
	f.agree(r, d.Stamp)
}

// definitionAt is the revision of a resource's definition that there was at a revision of
// etcd, also one that says that it was deleted; nil if there was none before.
func (f *Facts) definitionAt(r Resource, revision int64) *Definition {
	all := f.definitions[r]
	i, _ := slices.BinarySearchFunc(all, revision+1, func(d Definition, at int64) int {
		if d.Revision < at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return &all[i-1]
}

// definition is the definition of a resource that existed at a revision; nil if none did.
func (f *Facts) definition(r Resource, revision int64) *Definition {
	if d := f.definitionAt(r, revision); d != nil && d.CustomResource != nil {
		return d
	}
	return nil
}

// undefinedSince is since when a resource has had no definition that had one before; the
// zero Stamp if it has one, or never had.
func (f *Facts) undefinedSince(r Resource, revision int64) fact.Stamp {
	if d := f.definitionAt(r, revision); d != nil && d.CustomResource == nil {
		return d.Stamp
	}
	return fact.Stamp{}
}

// undefinedAfter is when a definition was deleted first after a revision.
func (f *Facts) undefinedAfter(r Resource, revision int64) fact.Stamp {
	for _, d := range f.definitions[r] {
		if d.Revision > revision && d.CustomResource == nil {
			return d.Stamp
		}
	}
	return fact.Stamp{}
}

// custom is whether a definition of a resource was recorded, or the harness made one.
func (f *Facts) custom(r Resource) bool { return len(f.definitions[r]) > 0 || f.requests.defined[r] }
