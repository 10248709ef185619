package election

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// Best is the candidate that should lead, or nil if there is none.
//
// KEP-4355: the oldest version leads, so that no leader is newer than an API
// server that it needs; and which one it is can be foretold.
func Best(candidates []*Candidate) *Candidate {
	if len(candidates) == 0 {
		return nil
	}
	return slices.MinFunc(candidates, compare)
}

// Place is how many of the candidates come before the one of that name.
func Place(candidates []*Candidate, name string) int {
	ordered := slices.SortedFunc(slices.Values(candidates), compare)
	return max(0, slices.IndexFunc(ordered, func(c *Candidate) bool { return c.Name == name }))
}

// compare orders candidates, best first: by what they behave like, then by what
// they are, then by age, then by name, which no two have in common.
func compare(a, b *Candidate) int {
	return cmp.Or(compareVersions(a, b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// compareVersions is what makes a candidate better than a leader. Age and name do
// not: a leader that works is not replaced by its like.
func compareVersions(a, b *Candidate) int {
	return cmp.Or(compareVersion(emulation(a), emulation(b)), compareVersion(a.Spec.BinaryVersion, b.Spec.BinaryVersion))
}

// emulation is the version that a candidate behaves like.
func emulation(c *Candidate) string {
	if c.Spec.EmulationVersion != "" {
		return c.Spec.EmulationVersion
	}
	return c.Spec.BinaryVersion
}

// compareVersion orders versions; what is none comes last.
func compareVersion(a, b string) int {
	left, leftErr := version.ParseSemantic(a)
	right, rightErr := version.ParseSemantic(b)
	switch {
	case leftErr != nil && rightErr != nil:
		return cmp.Compare(a, b)
	case leftErr != nil:
		return 1
	case rightErr != nil:
		return -1
	case left.LessThan(right):
		return -1
	case right.LessThan(left):
		return 1
	}
	return 0
}
