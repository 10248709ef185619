// Package release compares the names of releases: v1.36.3, 1.2, v1.37.0-rc.1 and, of
// vendors, v1.36.3+k3s1 and v1.36.3-eks-1234. Their order is that of semantic versions
// (golang.org/x/mod/semver), but for one thing: a suffix by which a vendor names a build is
// no pre-release.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package release

import (
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// before is a suffix of a version that comes before the release, as Kubernetes names them.
var before = regexp.MustCompile(`^-(alpha|beta|rc)\b`)

// semantic is the release as a semantic version without a vendor's suffix; ok is false if
// it is none.
func semantic(release string) (version string, ok bool) {
	release = Binary(release)
	version = "v" + strings.TrimPrefix(release, "v")
	if !semver.IsValid(version) {
		return "", false
	}
	version = strings.TrimSuffix(version, semver.Build(version))
	if suffix := semver.Prerelease(version); suffix != "" && !before.MatchString(suffix) {
		version = strings.TrimSuffix(version, suffix)
	}
	return version, true
}

// Valid is whether a release can be compared with others.
func Valid(release string) bool {
	_, ok := semantic(release)
	return ok
}

// Compare is negative if the binaries of a are older than those of b, positive if it is newer, and 0 if both are the
// same or builds of the same. Releases that are no versions come before all others.
func Compare(a, b string) int {
	x, _ := semantic(a)
	y, _ := semantic(b)
	return semver.Compare(x, y)
}

// Is tells whether a version, as /version says it, is of the release that a topology
// names, whatever that emulates: v1.36.3 and 1.36.3 are v1.36.3, v1.36.3+k3s1 and v1.36.3-eks-1234, and 1.36 is any
// of v1.36.x. A pre-release is not what it comes before.
func Is(release, version string) bool {
	release, version = strings.TrimPrefix(Binary(release), "v"), strings.TrimPrefix(version, "v")
	if release == version {
		return release != ""
	}
	runs, valid := semantic(version)
	named, known := semantic(release)
	switch {
	case !valid || !known:
		return false
	case named == semver.MajorMinor(named):
		return semver.MajorMinor(runs) == named && semver.Prerelease(runs) == ""
	case "v"+release != named:
		return false // it names a vendor's build, and this is another one
	}
	return semver.Compare(named, runs) == 0
}
