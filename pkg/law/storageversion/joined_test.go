package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// joinsSilently is a plane in which a and b agree, and then c starts and joins.
func joinsSilently() *historyBuilder {
	return newHistory().hosts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1).starts("c", 1).joins("c", 6)
}

func TestSV08Joined(t *testing.T) {
	const late, stored = "g.io.things called g.io/v1 agreed 10s after c had joined", "agreed when c, which takes part and has no entry there, stored an object"
	var long = joiningShows + time.Second
	reports := func(h *historyBuilder, revision int64) *historyBuilder {
		return h.says(things, revision, "a="+v1, "b="+v1, "c="+v1)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"taken back", reports(joinsSilently().disagrees(things, 7, "a="+v1, "b="+v1).pass(long).joins("x", 8), 9), nil},
		{"not taken back in time", reports(joinsSilently().pass(long).joins("x", 8), 9), []string{late}},
		{"not known to have been taken back, while the recorder was away", reports(joinsSilently().unheard(long).joins("x", 8), 9), nil},
		{"reported in time", reports(joinsSilently().pass(joiningShows-time.Second).joins("x", 8), 9), nil},
		{"taken back, and set again", reports(joinsSilently().disagrees(things, 7, "a="+v1, "b="+v1).pass(long).joins("x", 8).says(things, 9, "a="+v1, "b="+v1), 10), []string{late}},
		{"not taken back, and it stores", reports(joinsSilently().pass(long).joins("x", 8).writes("c", v1, 9), 10), []string{stored}},
		{"stores before the others must have noticed", reports(joinsSilently().writes("c", v1, 9), 10), []string{stored}},
		{"taken back, and it stores all the same, which is SV-12's", reports(joinsSilently().disagrees(things, 7, "a="+v1, "b="+v1).writes("c", v1, 9), 10), nil},
		{"it does not host the resource", joinsSilently().pass(long).joins("x", 8).lists("c", 9), nil},
		{"it has left", joinsSilently().pass(time.Second).leaves("c", 8).pass(long).joins("x", 9), nil},
		{"no server has reported yet", reports(newHistory().hosts("a", 1).joins("a", 2).put(things, 5, &history.StorageVersion{}).starts("c", 1).joins("c", 6).pass(long).joins("x", 7), 9), nil},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-08", tc.blames...) })
	}
	// One that deletes the object is under way while servers put it right, and store: its answer
	// comes after.
	two := func() *historyBuilder {
		return newHistory().hosts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1).pass(time.Minute)
	}
	anew := func(h *historyBuilder) *historyBuilder {
		return h.deletes(things, 6).says(things, 7, "a="+v1).writes("b", v1, 8).pass(time.Second)
	}
	answer := func(h *historyBuilder, code int, sent time.Duration) *historyBuilder {
		return h.asks("b", code, 6, tampering(things), sentBefore(sent)).pass(time.Second).says(things, 9, "a="+v1, "b="+v1)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"the harness deletes the object, and is answered late", answer(anew(two()), 200, 2*time.Second), nil},
		{"the harness may have deleted it, and has no answer", answer(anew(two()), 0, 2*time.Second), nil},
		{"the harness was refused", answer(anew(two()), 403, 2*time.Second), []string{"agreed when b, which takes part"}},
		{"the harness asks after it was stored", answer(anew(two()), 200, time.Second/2), []string{"agreed when b, which takes part"}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.h.blames(t, "SV-08", tc.blames...) })
	}
	t.Run("it never reports, so that it is not known whether it hosts the resource", func(t *testing.T) {
		r := joinsSilently().pass(long).joins("x", 8).blames(t, "SV-08")
		reason(t, r, "it is not known whether that hosts the resource")
	})
	t.Run("it never reports and leaves", func(t *testing.T) {
		r := joinsSilently().pass(long).joins("x", 8).leaves("c", 9).blames(t, "SV-08")
		reason(t, r, "it is not known whether that hosts the resource")
	})
}

// Of a server that joined and reported while the recorder of etcd heard nothing it is not certain
// that it was silent for so long, nor that a collector was there all the time that could notice.
func TestSV08_ASilenceThatMayHaveBeenTooLongIsUnclear(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().hosts("a", 1).joins("a", 2).joins("b", 3).starts("a", 1).ready("a", 200, 3).ready("a", 200, 3).manager("a", history.ProcessStarted)
	}
	agreed := func(h *historyBuilder) *historyBuilder { return h.says(things, 5, "a="+v1, "b="+v1).starts("c", 1) }
	leads := func(h *historyBuilder) *historyBuilder { return h.leads("a", 4) }
	for name, tc := range map[string]struct {
		heard, untold func(*historyBuilder) *historyBuilder
		away          time.Duration
		unclear       int64
	}{
		"it may have been too long": {leads, nil, 2 * joiningShows, 1},
		"it was not":                {leads, nil, joiningShows - time.Second, 0},
		"too long, and the collector may have been there": {nil, func(h *historyBuilder) *historyBuilder { return h.leads("a", 6) }, 2 * joiningShows, 1},
		"too long, and there was no collector":            {nil, nil, 2 * joiningShows, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := begun()
			if tc.heard != nil {
				h = tc.heard(h)
			}
			h = agreed(h).pass(time.Minute).unheard(tc.away)
			if tc.untold != nil {
				h = tc.untold(h)
			}
			r := h.joins("c", 7).says(things, 8, "a="+v1, "b="+v1, "c="+v1).pass(time.Second).ready("a", 200, 8).blames(t, "SV-08")
			if r.Obligations.Unclear != tc.unclear {
				t.Errorf("%+v %q", r.Obligations, r.Reasons)
			}
		})
	}
}

// The barrier stands in for the agreement only while it holds.
func TestSV08Deviates(t *testing.T) {
	for _, stores := range []bool{false, true} {
		h := newHistory().hosts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1)
		h.header.Distribution = "kubernetes"
		h.add(history.Event{Kind: history.KindProcess, Member: "c", Process: &history.Process{
			Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 1, Release: "v1.36.3"}})
		h.joins("c", 6).pass(joiningShows+time.Second).joins("x", 7)
		if stores {
			h.writes("c", v1, 8)
		}
		r := h.says(things, 9, "a="+v1, "b="+v1, "c="+v1).judge(t, "SV-08")[0]
		if deviates := len(r.Deviations) == 1 && r.ViolationCount == 0; deviates == stores {
			t.Errorf("stores %v: %+v, %v", stores, r.Deviations, r.Violations)
		}
	}
}
