package driver

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// plainRelease is a release of Kubernetes. What goes into a command line has no other characters.
var plainRelease = regexp.MustCompile(`^v?\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// vendorRelease is a release of a distribution that adds a suffix of its own, such as +k3s1.
func vendorRelease(suffix string) *regexp.Regexp {
	return regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.?\d+)?\+` + suffix + `\d+$`)
}

// releases is the Lack of a driver that can install what the form describes only.
func releases(form *regexp.Regexp, example string) func(*cluster.Topology) string {
	return func(topology *cluster.Topology) string {
		// Without them a release is what an API server says of itself, which goes into no command line.
		if len(topology.Spec.External.Releases) == 0 {
			return "spec.external.releases names none that it could install"
		}
		for _, one := range topology.Spec.External.Releases {
			if !form.MatchString(one) {
				return fmt.Sprintf("spec.external.releases has %q, and it installs releases such as %s", one, example)
			}
		}
		return ""
	}
}

// withinMinor is the Lack of a rollback that works within a minor version of Kubernetes only.
func withinMinor(why string, also func(*cluster.Topology) string) func(*cluster.Topology) string {
	return func(topology *cluster.Topology) string {
		all := topology.Spec.External.Releases
		for _, one := range all {
			if semver.MajorMinor("v"+bare(one)) != semver.MajorMinor("v"+bare(all[0])) {
				return why
			}
		}
		return also(topology)
	}
}

// bare is a release without its v.
func bare(release string) string { return strings.TrimPrefix(release, "v") }

// minor is such as 1.36.
func minor(release string) string {
	return strings.TrimPrefix(semver.MajorMinor("v"+bare(release)), "v")
}
