package discovery

import (
	"slices"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"pgregory.net/rapid"
)

// names lists the group-versions of groups, each with its first resource.
func names(groups []apidiscoveryv2.APIGroupDiscovery) []string {
	var all []string
	for _, group := range groups {
		for _, version := range group.Versions {
			name := group.Name + "/" + version.Version
			if len(version.Resources) > 0 {
				name += ":" + version.Resources[0].Resource
			}
			all = append(all, name)
		}
	}
	return all
}

func TestMerge(t *testing.T) {
	tests := map[string]struct {
		entries []Entry
		want    []string
	}{
		"nothing": {nil, nil},
		"groups by priority, then by name": {[]Entry{
			hosted(Builtin, "b", "v1", Priority{10, 1}), hosted(Builtin, "a", "v1", Priority{10, 1}), hosted(Custom, "z", "v1", Priority{20, 1}),
		}, []string{"z/v1", "a/v1", "b/v1"}},
		"a group ranks as its highest version": {[]Entry{
			hosted(Builtin, "a", "v1", Priority{10, 1}), hosted(Builtin, "b", "v1", Priority{1, 2}), hosted(Custom, "b", "v2", Priority{20, 1}),
		}, []string{"b/v1", "b/v2", "a/v1"}},
		"versions by priority, then by maturity": {[]Entry{
			hosted(Custom, "a", "v1alpha1", Priority{1, 5}), hosted(Custom, "a", "v2beta1", Priority{1, 1}), hosted(Custom, "a", "v1", Priority{1, 1}),
			hosted(Custom, "a", "v10", Priority{1, 1}), hosted(Custom, "a", "foo", Priority{1, 1}),
		}, []string{"a/v1alpha1", "a/v10", "a/v1", "a/v2beta1", "a/foo"}},
		"one group of several sources": {[]Entry{
			hosted(Custom, "a", "v1", Priority{1, 1}, "custom"), hosted(Remote, "a", "v2", Priority{1, 2}, "remote"),
		}, []string{"a/v2:remote", "a/v1:custom"}},
		"the source that requests reach": {[]Entry{
			hosted(Custom, "a", "v1", Priority{50, 50}, "custom"), hosted(Remote, "a", "v1", Priority{1, 1}, "remote"), hosted(Builtin, "a", "v1", Priority{9, 9}, "builtin"),
			hosted(Builtin, "b", "v1", Priority{2, 1}, "builtin"), hosted(Custom, "b", "v1", Priority{1, 1}, "custom"),
		}, []string{"b/v1:builtin", "a/v1:remote"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := names(Merge(test.entries)); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// KEP-3352's tag is the same on every server only if the document is, whatever
// the order in which a server came to know of its parts.
func TestMergeDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := map[place]Entry{}
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			entry := hosted(Source(rapid.IntRange(0, 2).Draw(t, "source")),
				rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"),
				rapid.SampledFrom([]string{"v1", "v1beta1", "v2", "x", "y"}).Draw(t, "version"),
				Priority{rapid.Int32Range(0, 2).Draw(t, "group priority"), rapid.Int32Range(0, 2).Draw(t, "version priority")},
				rapid.SampledFrom([]string{"one", "two"}).Draw(t, "resource"))
			places[place{entry.Source, entry.GroupVersion()}] = entry
		}
		var entries []Entry
		for _, entry := range places {
			entries = append(entries, entry)
		}
		shuffled := rapid.Permutation(entries).Draw(t, "order")
		one, errOne := NewDocument(Merge(entries))
		other, errOther := NewDocument(Merge(shuffled))
		if errOne != nil || errOther != nil || one.Tag() != other.Tag() {
			t.Fatalf("%v, %v: %v and %v", errOne, errOther, names(one.Groups()), names(other.Groups()))
		}
	})
}
