package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// findings is what every check reports breaches to.
type findings struct {
	violations []Violation
	count      int64
	// line is the event that the check is at.
	line int64
	// sources that the check relies on.
	sources []Source
	// shaky counts breaches that only seem to be ones, shakiest is the first.
	shaky    int64
	shakiest string
	// documented are the deviations that the judge accepts; none if it is
	// strict. deviating are the breaches that they explain.
	documented []requirement.Deviation
	deviating  []DeviationSeen
}

// violate records a breach that the events of the evidence show by themselves,
// whatever else the history may lack. Where none is at hand, the evidence is the
// event at which the breach was noticed: a reader has to be able to look.
func (f *findings) violate(evidence []int64, format string, args ...any) {
	f.count++
	evidence = f.orHere(evidence)
	if len(f.violations) < maxViolations {
		f.violations = append(f.violations, Violation{Message: fmt.Sprintf(format, args...), Evidence: evidence})
	}
}

// infer records a breach that follows from what was not seen, or from what was
// seen long before. Where something may have been missed it does not follow:
// an entry without a Lease is no breach if the Lease's line is the lost one.
func (f *findings) infer(w *World, evidence []int64, format string, args ...any) {
	if w.whole(f.sources) {
		f.violate(evidence, format, args...)
		return
	}
	f.shaky++
	if f.shaky == 1 {
		f.shakiest = fmt.Sprintf(format, args...)
	}
}

// inferOf is infer for a breach of a kind that the check can tell from all its
// others, by a process of the release. One that a deviation explains is kept
// apart.
func (f *findings) inferOf(w *World, kind, release string, evidence []int64, format string, args ...any) {
	for _, d := range f.documented {
		if d.Explains(kind, release) && w.whole(f.sources) {
			f.deviate(d, Violation{Message: fmt.Sprintf(format, args...), Evidence: evidence})
			return
		}
	}
	f.infer(w, evidence, format, args...)
}

// orHere is the evidence, or the event that the check is at where there is none.
func (f *findings) orHere(evidence []int64) []int64 {
	if len(evidence) == 0 && f.line > 0 {
		return []int64{f.line}
	}
	return evidence
}

func (f *findings) deviate(d requirement.Deviation, v Violation) {
	v.Evidence = f.orHere(v.Evidence)
	at := slices.IndexFunc(f.deviating, func(seen DeviationSeen) bool { return seen.ID == d.ID })
	if at < 0 {
		at = len(f.deviating)
		f.deviating = append(f.deviating, DeviationSeen{ID: d.ID, Differs: d.Differs, Source: d.Source})
	}
	seen := &f.deviating[at]
	seen.Count++
	if len(seen.Examples) < maxDeviations {
		seen.Examples = append(seen.Examples, v)
	}
}

func (f *findings) found() *findings { return f }

// at lists the sequence numbers of a violation's evidence; zeroes, which stand
// for evidence that is not at hand, are left out.
func at(seqs ...int64) []int64 {
	out := make([]int64, 0, len(seqs))
	for _, s := range seqs {
		if s > 0 {
			out = append(out, s)
		}
	}
	return out
}
