package main

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/explore"
)

// sightings tell which defects of a group were seen, and after how many schedules.
type sightings struct {
	all    []result
	others []string
	judged int
}

func newSightings(g group, random bool) *sightings {
	s := &sightings{all: make([]result, len(g))}
	for i, d := range g {
		s.all[i] = result{Defect: d.ID, Requirement: d.Requirement, Random: random}
		for _, other := range g {
			if other.ID != d.ID {
				s.all[i].With = append(s.all[i].With, other.ID)
			}
		}
	}
	return s
}

// take notes what a schedule has found, and says whether all of the group were found. It counts
// schedules in the order in which they end.
func (s *sightings) take(story *explore.Story, after time.Duration) bool {
	s.judged++
	all := true
	for _, f := range story.Finds {
		id := f.Fingerprint.Requirement
		ours := slices.ContainsFunc(s.all, func(r result) bool { return r.Requirement == id })
		if !ours && !slices.Contains(s.others, id) {
			s.others = append(s.others, id)
		}
	}
	for i := range s.all {
		r := &s.all[i]
		if !r.Found {
			r.Schedules, r.Took = s.judged, after
			r.Found = slices.ContainsFunc(story.Finds, func(f explore.Find) bool { return f.Fingerprint.Requirement == r.Requirement })
		}
		all = all && r.Found
	}
	return all
}

// results are what came of each defect, after the last schedule.
func (s *sightings) results(out *explore.Result) []result {
	for i := range s.all {
		s.all[i].Spoilt, s.all[i].Others = out.Spoilt, s.others
		if !s.all[i].Found {
			s.all[i].Schedules, s.all[i].Took = out.Schedules, out.Took
		}
	}
	return s.all
}
