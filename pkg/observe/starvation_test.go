package observe

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// timed is a Recorder whose time is that of the process.
type timed struct {
	begun  time.Time
	events []history.Event
}

func (r *timed) Now() int64 { return int64(time.Since(r.begun)) }

func (r *timed) Record(ev history.Event) {
	ev.At = r.Now()
	r.events = append(r.events, ev)
}

// total is the sum of the first values, of which there is one for each second.
func total(of []time.Duration, since time.Time) (sum time.Duration) {
	for i, one := range of {
		if time.Since(since) >= time.Duration(i+1)*time.Second {
			sum += one
		}
	}
	return sum
}

// measured are the stretches that are recorded of so many seconds on a machine.
func measured(t *testing.T, seconds int, m func(begun time.Time) machine) (events []history.Event) {
	synctest.Test(t, func(t *testing.T) {
		r := &timed{begun: time.Now().Add(-time.Minute)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second+time.Millisecond)
		defer cancel()
		of := m(time.Now())
		of.close = func() {}
		(&Starvation{machine: of, recorder: r, clock: clock.RealClock{}}).Run(ctx)
		events = r.events
	})
	return events
}

func TestStarvation_RecordsOnlyStretchesWithMuchWaiting(t *testing.T) {
	process := runs{"cp1", cluster.APIServer, cluster.Process{PID: 7, StartTime: 1}}
	other := runs{"cp2", cluster.Etcd, cluster.Process{PID: 8, StartTime: 1}}
	waits := []time.Duration{100 * time.Millisecond, 600 * time.Millisecond, 0, 2 * time.Second}
	events := measured(t, 4, func(begun time.Time) machine {
		return machine{cpus: 2, cpu: func(context.Context) map[runs]map[int]time.Duration {
			return map[runs]map[int]time.Duration{process: {7: time.Hour + total(waits, begun)}, other: {8: total(waits, begun) / 2}}
		}}
	})
	if !slices.Equal(events[0].Starvation.Measures, []string{history.MeasuresHarness, history.MeasuresCPU}) || events[0].Starvation.Waited() != 0 {
		t.Errorf("it begins with %+v", events[0].Starvation)
	}
	var got []time.Duration
	for _, ev := range events[1:] {
		got = append(got, time.Duration(ev.Starvation.CPU))
		if ev.Member != "cp1" || ev.Starvation.Component != "apiserver" || ev.At-ev.From != int64(time.Second) {
			t.Errorf("it recorded %+v of %s from %d to %d", ev.Starvation, ev.Member, ev.From, ev.At)
		}
	}
	if want := []time.Duration{600 * time.Millisecond, time.Second}; !slices.Equal(got, want) {
		t.Errorf("it recorded %v, want %v: the waiting of a stretch is no longer than that", got, want)
	}
}

// Whatever the order in which processes are looked at.
func TestStarvation_OfSeveralTellsOfTheOneThatWaitedLongest(t *testing.T) {
	long, longer := []time.Duration{700 * time.Millisecond, 3 * time.Second}, []time.Duration{700 * time.Millisecond, 4 * time.Second}
	for range 20 {
		events := measured(t, 2, func(begun time.Time) machine {
			return machine{cpus: 2, cpu: func(context.Context) map[runs]map[int]time.Duration {
				return map[runs]map[int]time.Duration{
					{"cp2", cluster.Etcd, cluster.Process{}}:      {1: total(longer, begun)},
					{"cp1", cluster.APIServer, cluster.Process{}}: {2: total(long, begun)},
				}
			}}
		})
		if events[1].Member != "cp1" || events[2].Member != "cp2" || events[2].Starvation.Component != "etcd" {
			t.Fatalf("it recorded %+v and %+v", events[1].Starvation, events[2].Starvation)
		}
	}
}

func TestWaitedOf_ThreadsThatWaitAtOnceCountOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		threads, before map[int]time.Duration
		want            time.Duration
	}{
		"one thread":                  {map[int]time.Duration{1: 5}, map[int]time.Duration{1: 2}, 3},
		"the one that waited longest": {map[int]time.Duration{1: 50, 2: 3, 3: 4}, map[int]time.Duration{1: 2, 2: 2, 3: 2}, 48},
		"many that take turns":        {map[int]time.Duration{1: 20, 2: 20, 3: 20, 4: 20}, map[int]time.Duration{1: 0, 2: 0, 3: 0, 4: 0}, 40},
		"a new thread":                {map[int]time.Duration{1: 5, 2: 70}, map[int]time.Duration{1: 2}, 3},
		"a number that is used again": {map[int]time.Duration{1: 5}, map[int]time.Duration{1: 70}, 0},
		"a new process":               {map[int]time.Duration{1: 5}, nil, 0},
	} {
		if got := waitedOf(tc.threads, tc.before, 2); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestStarvation_AProcessThatWasNotThereBeforeSaysNothing(t *testing.T) {
	events := measured(t, 3, func(begun time.Time) machine {
		return machine{cpus: 2, cpu: func(context.Context) map[runs]map[int]time.Duration {
			return map[runs]map[int]time.Duration{{"cp1", cluster.Etcd, cluster.Process{PID: int(time.Since(begun) / time.Second)}}: {7: time.Hour}}
		}}
	})
	if len(events) != 1 {
		t.Errorf("it recorded %+v", events[1:])
	}
}

// A disk for which other programs wait is none that the control plane waits for.
func TestStarvation_TheDiskCountsWhereItIsSlowForTheHarness(t *testing.T) {
	for name, tc := range map[string]struct {
		write, stalled time.Duration
		want           time.Duration // of each second; 0 if nothing is to be recorded
	}{
		"other programs read a lot":        {10 * time.Millisecond, 900 * time.Millisecond, 0},
		"the disk is slow":                 {200 * time.Millisecond, 900 * time.Millisecond, 900 * time.Millisecond},
		"the kernel does not say so":       {400 * time.Millisecond, 0, 400 * time.Millisecond},
		"slow for no more than an instant": {150 * time.Millisecond, 0, 0},
	} {
		events := measured(t, 5, func(begun time.Time) machine {
			return machine{
				write: func() error { <-time.After(tc.write); return nil },
				stalled: func() (time.Duration, error) {
					return time.Duration(float64(time.Since(begun)) * tc.stalled.Seconds()), nil
				},
			}
		})
		if tc.want == 0 && len(events) != 1 || tc.want > 0 && len(events) < 3 {
			t.Errorf("%s: it recorded %d stretches", name, len(events)-1)
		}
		for _, ev := range events[1:] {
			if share := float64(ev.Starvation.Disk) / float64(ev.At-ev.From); share < tc.want.Seconds()*0.7 || share > tc.want.Seconds()*1.1 {
				t.Errorf("%s: it recorded %+v from %d to %d", name, ev.Starvation, ev.From, ev.At)
			}
		}
	}
}

func TestStarvation_GoesOnWithoutWhatCannotBeMeasured(t *testing.T) {
	events := measured(t, 3, func(time.Time) machine {
		return machine{
			write:   func() error { return errors.New("the disk is full") },
			stalled: func() (time.Duration, error) { return 0, errors.New("no such file") },
			cpu:     func(context.Context) map[runs]map[int]time.Duration { return nil },
		}
	})
	if len(events) != 1 {
		t.Errorf("it recorded %+v", events[1:])
	}
}

// lateClock has timers that are late.
type lateClock struct {
	clock.RealClock
	by time.Duration
}

func (c lateClock) NewTimer(d time.Duration) clock.Timer { return c.RealClock.NewTimer(d + c.by) }

func TestStarvation_MeasuresHowLateTheHarnessIs(t *testing.T) {
	for by, want := range map[time.Duration]time.Duration{0: 0, 10 * time.Millisecond: 0, 100 * time.Millisecond: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r := &timed{begun: time.Now().Add(-time.Minute)}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+time.Millisecond)
			defer cancel()
			(&Starvation{machine: machine{close: func() {}}, recorder: r, clock: lateClock{by: by}}).Run(ctx)
			var got time.Duration
			for _, ev := range r.events[1:] {
				got += time.Duration(ev.Starvation.Harness)
			}
			if got != want {
				t.Errorf("timers that are %s late: %s recorded, want %s", by, got, want)
			}
		})
	}
}

func TestNewStarvation_MeasuresTheHarnessAloneWithoutAFolder(t *testing.T) {
	s := NewStarvation(nil, "", &timed{}, clock.RealClock{})
	if got := s.machine.measures(); !slices.Equal(got, []string{history.MeasuresHarness}) {
		t.Errorf("it measures %v", got)
	}
}
