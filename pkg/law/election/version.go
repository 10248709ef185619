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

// sameMinor is whether two versions have the same first two numbers.
func sameMinor(a, b string) bool { return slices.Equal(numbers(a)[:2], numbers(b)[:2]) }
