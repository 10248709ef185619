package emulation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/release"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// behavior is what a server behaves like, as versions such as 1.36: what it emulates, and the
// oldest version that it is compatible with. KEP-4330 has both decide what a server stores.
type behavior struct{ version, compatible string }

// behaviorOf is that of a release, with what the flags are by default. ok is false where the
// release is no version, of which nothing can be said.
func behaviorOf(played release.Played) (b behavior, ok bool) {
	binary, err := release.Minor(played.Binary)
	if err != nil {
		return behavior{}, false
	}
	b.version, err = release.Minor(played.Behaves())
	if err != nil {
		return behavior{}, false
	}
	if b.compatible = played.Compatible; b.compatible == "" {
		// KEP-4330: one version before what is emulated, but for the oldest that a binary
		// can emulate, which is compatible with itself.
		b.compatible = back(b.version, 1)
		if release.Compare(b.version, back(binary, emulatesBack())) <= 0 {
			b.compatible = b.version
		}
	}
	return b, true
}

// emulates is whether a release behaves like another one, or is told what to be compatible
// with.
func emulates(played release.Played) bool { return played.Emulated != "" || played.Compatible != "" }

// readBy is whether servers of a version have to be able to read what the server stores.
func (b behavior) readBy(version string) bool {
	return release.Compare(b.compatible, version) <= 0 && release.Compare(version, b.version) <= 0
}

// back is the version some minor versions before another one.
func back(version string, by int) string {
	major, minor, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s.%d", major, max(n-by, 0))
}

// emulatesBack is how many minor versions back a binary can emulate.
func emulatesBack() int { return int(requirement.MustNumber("KEP-4330", "emulatesBack")) }
