package run

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
)

const (
	// standingEvery is the least time between two looks at how the requirements stand, and
	// standingShare the part of all time that the looks may take: each goes over all that
	// was observed so far.
	standingEvery = 5 * time.Second
	standingShare = 40
)

// standing judges a run while it is recorded, in a goroutine of its own: it never delays the
// writer of the history.
type standing struct {
	clock  clock.Clock
	judged []string
	judge  *check.Judging
	// show is given each look; it is called by one goroutine at a time.
	show func([]check.Progress)

	mu     sync.Mutex
	queue  []history.Event
	latest []check.Progress
	over   bool
	more   chan struct{}
	ended  chan struct{}
}

// newStanding begins to judge a history with the header. End ends it.
func newStanding(header history.Header, judge *check.Judging, clk clock.Clock, show func([]check.Progress)) *standing {
	s := &standing{clock: clk, judged: header.Judges, judge: judge, show: show, more: make(chan struct{}, 1), ended: make(chan struct{})}
	go s.run()
	return s
}

// Take queues an event, and gives how the requirements stood at the last look.
func (s *standing) Take(ev history.Event) []check.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return s.latest
	}
	s.queue = append(s.queue, ev)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.latest
}

// End looks a last time, when all events are taken. Events that come later are not.
func (s *standing) End() {
	s.mu.Lock()
	s.over = true
	close(s.more)
	s.mu.Unlock()
	<-s.ended
}

func (s *standing) run() {
	defer close(s.ended)
	next := s.clock.Now()
	for range s.more {
		s.drain()
		if begun := s.clock.Now(); !begun.Before(next) {
			s.look()
			now := s.clock.Now()
			next = now.Add(max(standingEvery, standingShare*now.Sub(begun)))
		}
	}
	s.drain()
	s.look()
}

func (s *standing) drain() {
	s.mu.Lock()
	queue := s.queue
	s.queue = nil
	s.mu.Unlock()
	for i := range queue {
		s.judge.Take(&queue[i])
	}
}

func (s *standing) look() {
	progress := report.Standing(s.judged, s.judge.Progress())
	s.mu.Lock()
	s.latest = progress
	s.mu.Unlock()
	s.show(progress)
}
