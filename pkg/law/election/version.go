package election

import (
	"cmp"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// emulation is the version that a candidate behaves like.
func emulation(c *history.Candidate) string { return cmp.Or(c.Emulation, c.Binary) }

// order compares the emulated and the binary versions of two candidates: KEP-4355 goes by
// the binary version first, the published API by the emulated one.
func order(a, b *statement) (emulated, binary int) {
	return compareVersions(emulation(&a.Candidate), emulation(&b.Candidate)), compareVersions(a.Binary, b.Binary)
}

// older is whether a candidate comes before another one in whichever order.
func older(a, b *statement) bool {
	e, n := order(a, b)
	return e <= 0 && n <= 0 && e+n < 0
}

// alike is whether two candidates have the same versions.
func alike(a, b *statement) bool {
	e, n := order(a, b)
	return e == 0 && n == 0
}

func canonical(version string) string { return "v" + strings.TrimPrefix(version, "v") }

func compareVersions(a, b string) int { return semver.Compare(canonical(a), canonical(b)) }

// sameMinor is whether two versions have the same first two numbers.
func sameMinor(a, b string) bool {
	return semver.MajorMinor(canonical(a)) == semver.MajorMinor(canonical(b))
}
