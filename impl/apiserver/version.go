package apiserver

import (
	goruntime "runtime"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"

	"github.com/evenkeel/evenkeel/impl/release"
)

// libraryVersion is the Kubernetes version of the libraries. It governs their
// feature gates and has nothing to do with the releases played here.
const libraryVersion = "1.37"

// reportedVersion makes /version report the release. Everything else that depends on
// a version uses that of the libraries.
type reportedVersion struct {
	compatibility.EffectiveVersion
	info apimachineryversion.Info
}

// Info is the body of /version.
func (v reportedVersion) Info() *apimachineryversion.Info {
	info := v.info
	return &info
}

func versionOf(r release.Release) compatibility.EffectiveVersion {
	return reportedVersion{
		EffectiveVersion: compatibility.NewEffectiveVersionFromString(libraryVersion, "", ""),
		info: apimachineryversion.Info{
			Major: r.Major(), Minor: r.Minor(), GitVersion: r.GitVersion(),
			EmulationMajor: r.Major(), EmulationMinor: release.MinorOf(r.Behaves()),
			MinCompatibilityMajor: r.Major(), MinCompatibilityMinor: release.MinorOf(r.CompatibleWith()),
			GoVersion: goruntime.Version(), Compiler: goruntime.Compiler,
			Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
		},
	}
}
