package release

import (
	"fmt"
	"strings"
)

// Played is what a member runs: the release of its binaries, and where these have the
// behavior of an older one, what they emulate (KEP-4330). Its notation is a release as well:
// "v1.37.1", "v1.37.1 emulating 1.36", "v1.37.1 emulating 1.36 compatible with 1.34".
type Played struct {
	// Binary is the release of the binaries.
	Binary string
	// Emulated is the version of --emulated-version, such as 1.36; empty where the binaries
	// emulate none but their own.
	Emulated string
	// Compatible is the version of --min-compatibility-version; empty where that is not set.
	Compatible string
}

// The words between the parts of the notation.
const (
	emulating  = " emulating "
	compatible = " compatible with "
)

// String is the notation that Parse reads.
func (p Played) String() string {
	out := p.Binary
	if p.Emulated != "" {
		out += emulating + p.Emulated
	}
	if p.Compatible != "" {
		out += compatible + p.Compatible
	}
	return out
}

// Parse reads the notation of String. Every text is one: what has neither of the words is a
// release that emulates none.
func Parse(release string) Played {
	release, compatible, _ := strings.Cut(release, compatible)
	binary, emulated, _ := strings.Cut(release, emulating)
	return Played{Binary: binary, Emulated: emulated, Compatible: compatible}
}

// Binary is the release of the binaries.
func Binary(release string) string { return Parse(release).Binary }

// Behaves is the version whose behavior the binaries have: what they emulate, or their own.
func (p Played) Behaves() string {
	if p.Emulated != "" {
		return p.Emulated
	}
	return p.Binary
}

// Minor is the version of a release as the flags of KEP-4330 take it: 1.36 of v1.36.3. It is
// an error if the release is no version.
func Minor(release string) (string, error) {
	version, ok := semantic(release)
	if !ok {
		return "", fmt.Errorf("the release %q has no version that could be emulated", release)
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return major + "." + minor, nil
}
