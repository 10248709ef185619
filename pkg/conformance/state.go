package conformance

import (
	"cmp"
	"fmt"
	"slices"
)

// state is what a journal comes to.
type state struct {
	begun Begun
	// ended are the tries of each line that have ended, in their order.
	ended map[int][]Ended
	// pending are tries that were started and have not ended, as the last entry has them.
	pending map[int]Started
	// starts counts how often a run was started, whatever came of it.
	starts int
	// folders are all that bundles were put into.
	folders map[string]bool
}

// stateOf follows a journal. An error says that it is not one of the plan.
func stateOf(plan *Plan, digest string, entries []Entry) (*state, error) {
	s := &state{ended: map[int][]Ended{}, pending: map[int]Started{}, folders: map[string]bool{}}
	if len(entries) == 0 {
		return s, nil
	}
	s.begun = *entries[0].Begun
	if s.begun.Plan != digest {
		return nil, fmt.Errorf("%s is of another plan than %s: its plan has the SHA-256 %s, and the file has %s", JournalFile, PlanFile, s.begun.Plan, digest)
	}
	for _, e := range entries[1:] {
		line, try := 0, 0
		switch {
		case e.Started != nil:
			line, try = e.Started.Line, e.Started.Try
		case e.Ended != nil:
			line, try = e.Ended.Line, e.Ended.Try
		}
		if line < 1 || line > len(plan.Lines) {
			return nil, fmt.Errorf("%s has a run of line %d, and the plan has %d lines", JournalFile, line, len(plan.Lines))
		}
		if next := len(s.ended[line]) + 1; try != next || try > plan.Asked.Tries {
			return nil, fmt.Errorf("%s has try %d of line %d where it would be try %d of at most %d", JournalFile, try, line, next, plan.Asked.Tries)
		}
		if e.Started != nil {
			if e.Started.Process == nil {
				s.starts++
			}
			s.pending[line] = *e.Started
			s.folders[e.Started.Bundle] = true
			continue
		}
		s.ended[line] = append(s.ended[line], *e.Ended)
		delete(s.pending, line)
		if e.Ended.Bundle != "" {
			s.folders[e.Ended.Bundle] = true
		}
	}
	return s, nil
}

// all are the tries that have ended, by line and try.
func (s *state) all() []Ended {
	var out []Ended
	for _, tries := range s.ended {
		out = append(out, tries...)
	}
	slices.SortFunc(out, func(a, b Ended) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Try, b.Try)) })
	return out
}
