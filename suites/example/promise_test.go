package example

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/utils/ptr"
)

// broken returns how a StorageVersion differs from the servers that take part; it is
// empty if they match. KEP-2339: each of these servers has exactly one entry, no other
// server has one, and a version is agreed if and only if all entries name it.
func broken(sv *apiserverinternalv1alpha1.StorageVersion, servers []string) string {
	var reported []string
	encodings := map[string]bool{}
	for _, entry := range sv.Status.StorageVersions {
		reported = append(reported, entry.APIServerID)
		encodings[entry.EncodingVersion] = true
	}
	slices.Sort(reported)
	servers = slices.Sorted(slices.Values(servers))
	if !slices.Equal(reported, servers) {
		return fmt.Sprintf("%s has entries of [%s], but the servers are [%s]", sv.Name, strings.Join(reported, " "), strings.Join(servers, " "))
	}
	agreed := ptr.Deref(sv.Status.CommonEncodingVersion, "")
	equal := slices.ContainsFunc(sv.Status.Conditions, func(condition apiserverinternalv1alpha1.StorageVersionCondition) bool {
		return condition.Type == apiserverinternalv1alpha1.AllEncodingVersionsEqual && condition.Status == apiserverinternalv1alpha1.ConditionTrue
	})
	if want := len(encodings) == 1; equal != want || want != (agreed != "") || (want && !encodings[agreed]) {
		return fmt.Sprintf("%s names %d versions, calls %q agreed and has the condition %t", sv.Name, len(encodings), agreed, equal)
	}
	return ""
}

func TestBroken(t *testing.T) {
	type status = apiserverinternalv1alpha1.StorageVersionStatus
	entries := func(pairs ...string) (all []apiserverinternalv1alpha1.ServerStorageVersion) {
		for pair := range slices.Chunk(pairs, 2) {
			all = append(all, apiserverinternalv1alpha1.ServerStorageVersion{APIServerID: pair[0], EncodingVersion: pair[1]})
		}
		return all
	}
	equal := []apiserverinternalv1alpha1.StorageVersionCondition{{
		Type: apiserverinternalv1alpha1.AllEncodingVersionsEqual, Status: apiserverinternalv1alpha1.ConditionTrue}}
	for _, tc := range []struct {
		name, want string
		status     status
	}{
		{"agreed", "", status{StorageVersions: entries("b", "v1", "a", "v1"), CommonEncodingVersion: ptr.To("v1"), Conditions: equal}},
		{"not agreed", "", status{StorageVersions: entries("a", "v1", "b", "v2")}},
		{"one is missing", "has entries of [a], but the servers are [a b]", status{StorageVersions: entries("a", "v1"), CommonEncodingVersion: ptr.To("v1"), Conditions: equal}},
		{"one is there twice", "has entries of [a b b]", status{StorageVersions: entries("a", "v1", "b", "v1", "b", "v1"), CommonEncodingVersion: ptr.To("v1"), Conditions: equal}},
		{"a stranger", "has entries of [a b c]", status{StorageVersions: entries("a", "v1", "b", "v1", "c", "v1")}},
		{"empty", "has entries of []", status{}},
		{"agreed without being so", `names 2 versions, calls "v1" agreed`, status{StorageVersions: entries("a", "v1", "b", "v2"), CommonEncodingVersion: ptr.To("v1"), Conditions: equal}},
		{"agreed on another", `names 1 versions, calls "v2" agreed`, status{StorageVersions: entries("a", "v1", "b", "v1"), CommonEncodingVersion: ptr.To("v2"), Conditions: equal}},
		{"no condition", `calls "v1" agreed and has the condition false`, status{StorageVersions: entries("a", "v1", "b", "v1"), CommonEncodingVersion: ptr.To("v1")}},
		{"not called agreed", `calls "" agreed`, status{StorageVersions: entries("a", "v1", "b", "v1"), Conditions: equal}},
	} {
		sv := &apiserverinternalv1alpha1.StorageVersion{Status: tc.status}
		got := broken(sv, []string{"a", "b"})
		if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
