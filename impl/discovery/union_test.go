package discovery

import (
	"maps"
	"slices"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

func testRank(_ schema.GroupVersion, number int) Priority {
	return Priority{Group: 17000, Version: 100 - int32(number)} //nolint:gosec // G115: a group of a test has few versions.
}

// builtins are entries as a server of the given group-versions has them, by
// group, the versions in the order of its preference.
func builtins(groups map[string][]string, resources ...string) []Entry {
	var entries []Entry
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		for number, version := range groups[group] {
			gv := schema.GroupVersion{Group: group, Version: version}
			entries = append(entries, hosted(Builtin, group, version, testRank(gv, number), resources...))
		}
	}
	return entries
}

func TestUnite(t *testing.T) {
	older := builtins(map[string][]string{"a": {"v1beta1", "v1alpha1"}, "old": {"v1"}}, "apples")
	newer := builtins(map[string][]string{"a": {"v1", "v1beta1"}, "new": {"v1"}}, "pears")
	common := []Entry{hosted(Custom, "custom", "v1", Priority{1000, 100}, "customs"), hosted(Remote, "remote", "v1", Priority{2000, 1}, "remotes")}
	// A group-version that only one server has a CRD for, and the other built in.
	crd := hosted(Custom, "old", "v1", Priority{1000, 100}, "customs")

	tests := map[string]struct {
		entries []Entry
		self    string
		peers   []Hosting
		want    []string
	}{
		"alone": {slices.Concat(newer, common), "s2", nil,
			[]string{"a/v1:pears", "a/v1beta1:pears", "new/v1:pears", "remote/v1:remotes", "custom/v1:customs"}},
		"the newer one": {slices.Concat(newer, common), "s2", []Hosting{{"s1", Merge(older)}},
			[]string{"a/v1:pears", "a/v1beta1:apples", "a/v1alpha1:apples", "new/v1:pears", "old/v1:apples", "remote/v1:remotes", "custom/v1:customs"}},
		"the older one": {slices.Concat(older, common), "s1", []Hosting{{"s2", Merge(newer)}},
			[]string{"a/v1:pears", "a/v1beta1:apples", "a/v1alpha1:apples", "new/v1:pears", "old/v1:apples", "remote/v1:remotes", "custom/v1:customs"}},
		"a CRD stands for itself": {slices.Concat(newer, []Entry{crd}), "s2", []Hosting{{"s1", Merge(older)}},
			[]string{"a/v1:pears", "a/v1beta1:apples", "a/v1alpha1:apples", "new/v1:pears", "old/v1:customs"}},
		"not the core group": {newer, "s2", []Hosting{{"s1", Merge([]Entry{hosted(Builtin, "", "v1", Priority{}, "pods")})}},
			[]string{"a/v1:pears", "a/v1beta1:pears", "new/v1:pears"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := names(Merge(Unite(test.entries, test.self, test.peers, testRank))); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestUniteResources(t *testing.T) {
	one := hosted(Builtin, "a", "v1", Priority{}, "apples", "pears").Version.Resources
	other := hosted(Builtin, "a", "v1", Priority{}, "plums", "apples").Version.Resources
	other[1].Verbs = metav1.Verbs{"get", "shake"}
	other[1].Subresources = []apidiscoveryv2.APISubresourceDiscovery{{Subresource: "scale"}, {Subresource: "status", Verbs: metav1.Verbs{"get", "patch", "update"}}}
	united := uniteResources(one, other)
	var got []string
	for _, resource := range united {
		got = append(got, resource.Resource)
	}
	if want := []string{"apples", "pears", "plums"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	apples := united[0]
	if !slices.Contains(apples.Verbs, "shake") || !slices.Contains(apples.Verbs, "watch") || len(apples.Verbs) != 9 || !slices.IsSorted(apples.Verbs) {
		t.Errorf("verbs %v", apples.Verbs)
	}
	if len(apples.Subresources) != 2 || apples.Subresources[0].Subresource != "scale" || len(apples.Subresources[1].Verbs) != 3 {
		t.Errorf("subresources %+v", apples.Subresources)
	}
}

// AD-12, AD-23: every member serves the same union, in the same order, under the
// same tag.
func TestUnionIsTheSameOnAllMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []string{"s1", "s2", "s3"}
		hosts := map[string][]Entry{}
		for _, id := range ids {
			groups := map[string][]string{}
			for _, group := range []string{"a", "b", "c"} {
				if kept := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"v1", "v1beta1", "v2alpha1", "v2"}), 0, 4, rapid.ID).Draw(t, id+" "+group); len(kept) > 0 {
					groups[group] = kept
				}
			}
			resources := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"apples", "pears", "plums"}), 0, 3, rapid.ID).Draw(t, id+" resources")
			hosts[id] = builtins(groups, resources...)
		}
		shared := hosted(Custom, "b", "v3", Priority{1000, 100}, "customs")
		tags := map[string]bool{}
		for _, id := range ids {
			var peers []Hosting
			for _, other := range ids {
				if other != id {
					peers = append(peers, Hosting{other, Merge(hosts[other])})
				}
			}
			document, err := NewDocument(Merge(Unite(append(slices.Clone(hosts[id]), shared), id, peers, testRank)))
			if err != nil {
				t.Fatal(err)
			}
			tags[document.Tag()] = true
		}
		if len(tags) != 1 {
			t.Fatalf("%d tags", len(tags))
		}
	})
}

func TestRoutesOf(t *testing.T) {
	here := slices.Concat(builtins(map[string][]string{"a": {"v1"}}, "apples"), []Entry{hosted(Custom, "custom", "v1", Priority{}, "customs")})
	peers := []Hosting{
		{"s3", Merge(builtins(map[string][]string{"a": {"v1", "v2"}}, "apples", "pears"))},
		{"s4", Merge(builtins(map[string][]string{"other": {"v1", "v2"}}))},
		{"s2", Merge(builtins(map[string][]string{"a": {"v2"}, "custom": {"v1"}, "": {"v1"}}, "pears"))},
	}
	other := schema.GroupVersion{Group: "other", Version: "v1"}
	v1, v2 := schema.GroupVersion{Group: "a", Version: "v1"}, schema.GroupVersion{Group: "a", Version: "v2"}
	want := map[Hosted][]string{
		{v1, "pears"}: {"s3"}, {v2, ""}: {"s2", "s3"}, {v2, "pears"}: {"s2", "s3"}, {v2, "apples"}: {"s3"},
		groupAlone(other): {"s4"}, {other, ""}: {"s4"}, {schema.GroupVersion{Group: "other", Version: "v2"}, ""}: {"s4"},
	}
	got := RoutesOf(here, peers)
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for hosted, servers := range want {
		if !slices.Equal(got[hosted], servers) {
			t.Errorf("%v: got %v, want %v", hosted, got[hosted], servers)
		}
	}
}
