package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// sortCandidates puts candidates in the order of their names, so that what a check
// says does not depend on chance.
func sortCandidates(all []*candidateSeen) {
	slices.SortFunc(all, func(a, b *candidateSeen) int { return cmp.Compare(a.name, b.name) })
}

// sorted are the Leases that fit, in the order of their names.
func (e *elections) sorted(fits func(*ledLease) bool) []*ledLease {
	var out []*ledLease
	for _, l := range e.leases {
		if fits(l) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b *ledLease) int { return cmp.Compare(a.key, b.key) })
	return out
}

// versions of a candidate: what it behaves like, and what it is.
func (c *candidateSeen) emulation() string {
	if c.now.Emulation != "" {
		return c.now.Emulation
	}
	return c.now.Binary
}

// older is whether a candidate comes before another one in whichever order the two
// versions are looked at.
func older(a, b *candidateSeen) bool {
	emulation, binary := orderVersions(a.emulation(), b.emulation()), orderVersions(a.now.Binary, b.now.Binary)
	return emulation <= 0 && binary <= 0 && emulation+binary < 0
}

// disputed is whether it depends on the order in which the versions are looked at
// who comes first.
func disputed(a, b *candidateSeen) bool {
	return orderVersions(a.emulation(), b.emulation())*orderVersions(a.now.Binary, b.now.Binary) < 0
}

// alike is whether two candidates have the same versions.
func alike(a, b *candidateSeen) bool {
	return a.emulation() == b.emulation() && a.now.Binary == b.now.Binary
}

// orderVersions orders versions such as 1.36.3 by their numbers.
func orderVersions(a, b string) int {
	left, right := numbers(a), numbers(b)
	return slices.Compare(left, right)
}

func numbers(version string) []int {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	version, _, _ = strings.Cut(version, "+")
	out := make([]int, 3)
	for i, part := range strings.SplitN(version, ".", len(out)) {
		out[i], _ = strconv.Atoi(part)
	}
	return out
}

// inOrder are the candidates of a map, in the order of their names.
func inOrder[V any](of map[*candidateSeen]V) []*candidateSeen {
	out := make([]*candidateSeen, 0, len(of))
	for c := range of {
		out = append(out, c)
	}
	sortCandidates(out)
	return out
}
