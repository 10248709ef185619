package story

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Sort puts events whose times were changed back into the order of times, and gives the
// changes in etcd their revisions anew, in that order.
func (e *Edit) Sort() {
	var before []int64
	for _, ev := range e.Events {
		if ev.Stored != nil {
			before = append(before, ev.Stored.Revision)
		}
	}
	slices.SortStableFunc(e.Events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	now := map[int64]int64{}
	for _, ev := range e.Events {
		if ev.Stored != nil {
			now[ev.Stored.Revision] = before[len(now)]
		}
	}
	checkpoints := map[string]string{}
	for i := range e.Events {
		switch ev := &e.Events[i]; {
		case ev.Stored != nil:
			ev.Stored = moved(ev.Stored, now, checkpoints)
		case ev.Request != nil:
			if made, ok := now[ev.Request.ResourceVersion]; ok {
				r := *ev.Request
				r.ResourceVersion = made
				ev.Request = &r
			}
		}
	}
}

// moved is a change in etcd with its new revisions. A checkpoint moves with the change that
// has it first.
func moved(of *history.Stored, now map[int64]int64, checkpoints map[string]string) *history.Stored {
	s := *of
	by := now[s.Revision] - s.Revision
	s.Revision += by
	if created, ok := now[s.Created]; ok {
		s.Created = created
	}
	if s.Migration == nil {
		return &s
	}
	m := *s.Migration
	if at, err := strconv.ParseInt(m.Checkpoint, 10, 64); err == nil {
		if checkpoints[m.Checkpoint] == "" {
			checkpoints[m.Checkpoint] = strconv.FormatInt(at+by, 10)
		}
		m.Checkpoint = checkpoints[m.Checkpoint]
	}
	s.Migration = &m
	return &s
}
