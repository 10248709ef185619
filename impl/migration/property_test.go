package migration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPaceStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Float64Range(0.1, 5000).Draw(t, "most")
		pace := NewPace(most)
		for range rapid.IntRange(0, 200).Draw(t, "answers") {
			before := pace
			sample := Sample{
				Latency:   time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "latency")),
				Throttled: rapid.Bool().Draw(t, "throttled"),
			}
			pace = pace.After(sample)
			if pace.Rate < pace.Least || pace.Rate > pace.Most {
				t.Fatalf("%v after %+v: %+v", pace.Rate, sample, pace)
			}
			if sample.Throttled && pace.Rate > before.Rate {
				t.Fatalf("faster after being throttled: %v, then %v", before.Rate, pace.Rate)
			}
		}
		// However bad it was, good answers bring the rate back.
		for range 2000 {
			pace = pace.After(Sample{Latency: time.Millisecond})
		}
		if pace.Rate != most {
			t.Fatalf("the rate stays at %v of %v: %+v", pace.Rate, most, pace)
		}
	})
}

func TestPaceSlowsDownUnderLoad(t *testing.T) {
	calm := NewPace(DefaultRate)
	for range 100 {
		calm = calm.After(Sample{Latency: 5 * time.Millisecond})
	}
	if calm.Rate != DefaultRate || calm.Interval() != time.Second/8 {
		t.Fatalf("under no load: %+v", calm)
	}
	if got := calm.After(Sample{Throttled: true}).Rate; got != DefaultRate/2 {
		t.Errorf("after one refusal the rate is %v", got)
	}
	loaded := calm
	for range 20 {
		loaded = loaded.After(Sample{Latency: 500 * time.Millisecond})
	}
	if loaded.Rate > DefaultRate/2 {
		t.Errorf("after twenty slow answers the rate is %v", loaded.Rate)
	}
}

// A controller that watches without a gap knows every version in which objects may be stored.
func TestObserveForgetsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var state State
		possible := map[string]bool{Unknown: true}
		for revision := 1; revision <= rapid.IntRange(1, 20).Draw(t, "revisions"); revision++ {
			encodings := rapid.SliceOfN(rapid.SampledFrom([]string{"g/v1", "g/v2", "g/v3"}), 1, 3).Draw(t, "encodings")
			agreed := ""
			if same := slices.Compact(slices.Sorted(slices.Values(encodings))); len(same) == 1 && rapid.Bool().Draw(t, "all joined") {
				agreed = same[0]
			}
			sv := storageVersion(fmt.Sprint(revision), agreed, encodings...)
			state = state.Observe(sv, true)
			for _, encoding := range encodings {
				possible[encoding] = true
			}
			if basis, ok := BasisOf(sv); ok && rapid.Bool().Draw(t, "migrated") {
				state = state.Completed(int64(revision), basis)
				possible = map[string]bool{basis.Version: true}
			}
			for version := range possible {
				if !slices.Contains(state.Persisted, version) {
					t.Fatalf("revision %d: %s may be stored, known are %v", revision, version, state.Persisted)
				}
			}
		}
	})
}
