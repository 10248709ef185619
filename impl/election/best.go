package election

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"
)

// Order compares the versions of two candidates: below 0 if the first one should lead.
type Order func(a, b *Candidate) int

// Best is the candidate that should lead, or nil if there is none.
//
// KEP-4355, "Algorithm configurability": a list of comparisons makes the leader
// predictable; the last one is the name, which no two candidates have in common.
func (o Order) Best(candidates []*Candidate) *Candidate {
	if len(candidates) == 0 {
		return nil
	}
	return slices.MinFunc(candidates, o.all)
}

// Place is how many of the candidates come before the one of that name. A name that is not
// in the list comes after all of them: its instance may not know of better candidates.
func (o Order) Place(candidates []*Candidate, name string) int {
	ordered := slices.SortedFunc(slices.Values(candidates), o.all)
	if i := slices.IndexFunc(ordered, func(c *Candidate) bool { return c.Name == name }); i >= 0 {
		return i
	}
	return len(ordered)
}

// all compares by versions, then by age, then by name.
func (o Order) all(a, b *Candidate) int {
	return cmp.Or(o(a, b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// Better returns the candidates that should lead in the place of a leader. Age and name make
// no candidate better: a leader that works is not replaced by its like. A leader that is no
// candidate has no version to compare, so all candidates are better.
func (o Order) Better(leader string, candidates []*Candidate) []*Candidate {
	i := slices.IndexFunc(candidates, func(c *Candidate) bool { return c.Name == leader })
	var better []*Candidate
	for _, c := range candidates {
		if i < 0 || o(c, candidates[i]) < 0 {
			better = append(better, c)
		}
	}
	return better
}

// oldestFirst compares what candidates behave like, and then what they are.
//
// KEP-4355: the coordinator picks the candidate with the lowest version, so that the
// version skew policy is not violated.
func oldestFirst(a, b *Candidate) int {
	return cmp.Or(compareVersion(emulation(a), emulation(b)), compareVersion(a.Spec.BinaryVersion, b.Spec.BinaryVersion))
}

// newestFirst has the highest version lead. What is no version comes last here, too.
//
// KEP-4355, Story 3: a cluster administrator canaries a new version by the strategy.
func newestFirst(a, b *Candidate) int {
	if left, right := wellFormed(a), wellFormed(b); left != right {
		return cmp.Compare(right, left)
	}
	return oldestFirst(b, a)
}

// wellFormed is 1 if both versions of a candidate are versions, else 0.
func wellFormed(c *Candidate) int {
	for _, v := range []string{emulation(c), c.Spec.BinaryVersion} {
		if _, err := version.ParseSemantic(v); err != nil {
			return 0
		}
	}
	return 1
}

// emulation is the version that a candidate behaves like.
func emulation(c *Candidate) string {
	return cmp.Or(c.Spec.EmulationVersion, c.Spec.BinaryVersion)
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
