package external

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// sameRelease is whether what /version says is of the release that a topology names:
// v1.36.3 and 1.36.3 are v1.36.3, v1.36.3+k3s1 and v1.36.3-eks-1234, and 1.2 is v1.2.0.
// A pre-release is not what it comes before.
func sameRelease(release, version string) bool {
	rest, found := strings.CutPrefix(strings.TrimPrefix(version, "v"), strings.TrimPrefix(release, "v"))
	if !found {
		return false
	}
	if rest == "" || strings.HasPrefix(rest, "+") {
		return true
	}
	if tag, ok := strings.CutPrefix(rest, "-"); ok {
		return !preRelease(tag)
	}
	patch, ok := strings.CutPrefix(rest, ".")
	if !ok || strings.Count(strings.TrimPrefix(release, "v"), ".") != 1 {
		return false
	}
	// Without a patch any of the minor release is meant.
	_, tag, _ := strings.Cut(patch, "-")
	return !preRelease(tag)
}

// preRelease is whether what follows the dash of a version says that it comes before
// the release.
func preRelease(tag string) bool {
	for _, before := range []string{"alpha", "beta", "rc"} {
		if strings.HasPrefix(tag, before) {
			return true
		}
	}
	return false
}

// compareVersions orders releases from old to new; those that are no versions come
// first, by their names.
func compareVersions(a, b string) int {
	x, errX := version.ParseGeneric(a)
	y, errY := version.ParseGeneric(b)
	switch {
	case errX != nil && errY != nil:
		return strings.Compare(a, b)
	case errX != nil:
		return -1
	case errY != nil:
		return 1
	case x.LessThan(y):
		return -1
	case y.LessThan(x):
		return 1
	}
	return strings.Compare(a, b)
}
