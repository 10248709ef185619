package election

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// emulation is the version that a candidate behaves like.
func emulation(c *history.Candidate) string { return cmp.Or(c.Emulation, c.Binary) }

// older is whether a candidate comes before another one in whichever order the binary and
// the emulated version are compared: KEP-4355 compares the binary version first, the
// published API the emulated one.
func older(a, b *history.Candidate) bool {
	e, n := compareVersions(emulation(a), emulation(b)), compareVersions(a.Binary, b.Binary)
	return e <= 0 && n <= 0 && e+n < 0
}

// orderDecides is whether it depends on that order which candidate comes first.
func orderDecides(a, b *history.Candidate) bool {
	return compareVersions(emulation(a), emulation(b))*compareVersions(a.Binary, b.Binary) < 0
}

// alike is whether two candidates have the same versions.
func alike(a, b *history.Candidate) bool {
	return emulation(a) == emulation(b) && a.Binary == b.Binary
}

func compareVersions(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

func numbers(version string) []int {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	version, _, _ = strings.Cut(version, "+")
	out := make([]int, 3)
	for i, part := range strings.SplitN(version, ".", len(out)) {
		out[i], _ = strconv.Atoi(part)
	}
	return out
}

// minor is the first two numbers of a release.
func minor(release string) string {
	parts := strings.SplitN(strings.TrimPrefix(release, "v"), ".", 3)
	if len(parts) < 2 {
		return release
	}
	return parts[0] + "." + parts[1]
}
