package discovery

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	const took = 20 * time.Millisecond
	now := time.Unix(1000, 0)
	var p pace
	// run rebuilds again and again, and returns how long it paused in total.
	run := func(times int) (paused time.Duration) {
		for range times {
			now = now.Add(took)
			pause := p.pause(now, took)
			paused += pause
			now = now.Add(pause)
		}
		return paused
	}
	free := int(savedMost / took)
	if paused := run(free); paused > 0 {
		t.Errorf("the first %d rebuilds were held up for %s", free, paused)
	}
	run(1)
	const times = 100
	if paused, want := run(times), times*took*(rebuildShare-1); paused < want*9/10 || paused > want*11/10 {
		t.Errorf("%d rebuilds paused for %s, want %s", times, paused, want)
	}
	now = now.Add(took * rebuildShare * 3)
	if paused := run(2); paused > 0 {
		t.Errorf("after some quiet rebuilds were held up for %s", paused)
	}
	now = now.Add(time.Hour)
	if run(free); p.saved > took {
		t.Errorf("an hour of quiet saved for more than %d rebuilds", free)
	}
	// A machine that stood still is not punished for long.
	now = now.Add(time.Minute)
	if pause := p.pause(now, time.Minute); pause != unhurried {
		t.Errorf("a rebuild of a minute made the next one wait %s", pause)
	}
}
