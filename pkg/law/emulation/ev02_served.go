package emulation

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ev02: an emulating server hosts the resources, in the versions, that servers of the emulated
// release host, no more and no less (KEP-4330, "API availability" and "Discovery"): what came
// later is not there, and what was removed later is. A server hosts what it answers for each
// version, and not only what it lists for the group: that list follows from the APIServices,
// which all servers share. It does not see fields of objects, which the KEP does not prune,
// nor versions that no server lists or claims, nor, where peers answer in each other's place
// (KEP-4020), whether a server hosts by itself what it shows.
var ev02 = law.Each[*Facts, hosted]{
	Row: law.Row{ID: "EV-02", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Discovery}, Needs: []law.Need{
		{Name: "compared"}, {Name: "comparedEach", Each: true}, {Name: "differing", Tag: differing},
	}, Kinds: []string{kindAlpha}},
	Over: (*Facts).hostings,
	End:  hosted.asEmulated,
}

// kindAlpha is of breaches in which a server lacks nothing but alpha versions of the emulated
// release: KEP-4330 does not have them enabled beside an emulated version.
const kindAlpha = "alpha"

var alpha = regexp.MustCompile(`v\d+alpha\d+$`)

// looked is a look at what a server hosts, once it was ready.
type looked struct {
	*server
	*fact.Look
	// alone is whether all servers that may have lived behaved alike, so that the lists of
	// groups, which follow from what any server hosts, leave nothing out.
	alone bool
}

// looks are those of which it is known at which server.
func (f *Facts) looks() []looked {
	type key struct{}
	return fact.Cached(f.History, key{}, func() []looked {
		var out []looked
		for _, member := range f.Members() {
			for _, look := range f.Looks(member) {
				at := f.When(look.Stamp)
				p := f.ProcessAt(member, history.ComponentAPIServer, at)
				i := slices.IndexFunc(f.servers(), func(s *server) bool { return s.Process == p })
				if i < 0 {
					continue
				}
				s := f.servers()[i]
				if ready := f.FirstReady(p); ready == nil || ready.Latest > at.Latest {
					continue
				}
				unlike := func(o *server) bool { return o.perhaps(at) && o.version != s.version }
				out = append(out, looked{s, look, !slices.ContainsFunc(f.servers(), unlike)})
			}
		}
		return out
	})
}

// versions are those in which a look shows a resource.
func (l looked) versions(r fact.Resource) []string {
	of, _ := l.Find(r)
	return union(slices.Clone(of.Served), of.Unlisted...)
}

// own are the resources that API servers host by themselves in any look. What servers say that
// emulate nothing decides: none may talk itself out of what it is judged on.
func (f *Facts) own() map[fact.Resource]bool {
	type key struct{}
	return fact.Cached(f.History, key{}, func() map[fact.Resource]bool {
		out := map[fact.Resource]bool{}
		maps.Copy(out, f.ownBy(func(l looked) bool { return l.emulates }))
		maps.Copy(out, f.ownBy(func(l looked) bool { return !l.emulates }))
		maps.DeleteFunc(out, func(_ fact.Resource, own bool) bool { return !own })
		return out
	})
}

// ownBy is whether the servers of all looks that fit host a resource by themselves.
func (f *Facts) ownBy(fits func(looked) bool) map[fact.Resource]bool {
	out := map[fact.Resource]bool{}
	for _, l := range fact.Where(f.looks(), fits) {
		for _, x := range l.Resources {
			r := fact.Resource{Group: x.Group, Resource: x.Resource}
			before, known := out[r]
			out[r] = (before || !known) && !x.Custom && !x.Aggregated && !f.Defined(r)
		}
	}
	return out
}

// offered is what servers of a version host that emulate nothing.
type offered struct {
	versions map[fact.Resource][]string
	// whole is whether a look left nothing out, and seq the number of the last look.
	whole bool
	seq   int64
}

// offers are what servers host that emulate nothing, by version.
func (f *Facts) offers() map[string]*offered {
	type key struct{}
	return fact.Cached(f.History, key{}, func() map[string]*offered {
		out := map[string]*offered{}
		for _, l := range f.looks() {
			if l.emulates || len(l.Off) > 0 || f.peers() && !l.alone {
				continue
			}
			o := out[l.server.version]
			if o == nil {
				o = &offered{versions: map[fact.Resource][]string{}}
				out[l.server.version] = o
			}
			for r := range f.own() {
				if found := l.versions(r); len(found) > 0 {
					o.versions[r] = union(o.versions[r], found...)
				}
			}
			o.whole, o.seq = o.whole || l.alone, max(o.seq, l.Seq)
		}
		return out
	})
}

// hosted is a resource in a look at an emulating server.
type hosted struct {
	looked
	resource fact.Resource
	want     *offered
}

func (f *Facts) hostings() []hosted {
	var out []hosted
	own := slices.SortedFunc(maps.Keys(f.own()), func(a, b fact.Resource) int {
		return strings.Compare(a.StorageVersionName(), b.StorageVersionName())
	})
	for _, l := range f.looks() {
		want := f.offers()[l.server.version]
		if !l.emulates || len(l.Off) > 0 || want == nil {
			continue
		}
		for _, r := range own {
			if len(l.versions(r)) > 0 || len(want.versions[r]) > 0 {
				out = append(out, hosted{l, r, want})
			}
		}
	}
	return out
}

func (h hosted) asEmulated(law.Bounds) law.Entry {
	name, got, want := h.resource.StorageVersionName(), h.versions(h.resource), h.want.versions[h.resource]
	e := law.Of(name, h.f.When(h.Stamp)).By(h.server.Member)
	more, less := without(got, want), without(want, got)
	what := fmt.Sprintf("%s runs %s and hosts %s in %v, and servers of %s in %v", h.server.Member, h.Release, name, got, h.server.version, want)
	switch {
	case h.f.peers() && (len(more) > 0 || len(less) == 0):
		return e.Unclear("%s, if no peer answered in its place", what).Shown(h.Seq, h.want.seq)
	case len(more)+len(less) == 0:
		own := h.f.offers()[h.binary]
		return e.Met(tagIf(own != nil && own.whole && !fact.SameSet(own.versions[h.resource], want), differing)...)
	case len(more) > 0 && !h.want.whole:
		return e.Unclear("%s, whose lists may have left some out", what).Shown(h.Seq, h.want.seq)
	case len(more) == 0 && !h.alone && slices.ContainsFunc(less, func(v string) bool { return !h.askedFor(v) }):
		return e.Unclear("%s, and it was not asked for all of them", what).Shown(h.Seq, h.want.seq)
	}
	e = e.Broken("%s", what).Shown(h.Started.Seq, h.Seq, h.want.seq)
	if len(more) == 0 && !slices.ContainsFunc(less, func(v string) bool { return !alpha.MatchString(v) }) {
		e = e.As(kindAlpha, h.Release)
	}
	return e
}

// peers is whether servers hand requests on for what only others host.
func (f *Facts) peers() bool {
	return f.Header.Setting("peerDiscovery") == "true"
}

// askedFor is whether the recorder asked the server for a version whatever the lists say: a
// StorageVersion called it served when the look began.
func (h hosted) askedFor(version string) bool {
	revision := h.f.RevisionBy(h.From)
	return slices.ContainsFunc(h.f.StorageVersions(), func(v *fact.StorageVersion) bool {
		now := v.At(revision)
		return now != nil && slices.ContainsFunc(now.Is.Entries, func(e history.Entry) bool { return slices.Contains(e.Served, version) })
	})
}

// without are those of some that others are not among.
func without(some, others []string) []string {
	return fact.Where(some, func(x string) bool { return !slices.Contains(others, x) })
}
