package check

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// timely are the requirements whose failing stories tell of something that took too long. A
// machine that is starved all the time may be why, so that these are inconclusive there.
var timely = strings.Fields("AD-13 AD-16 AD-18 AD-19 AD-24 CLE-03 CLE-04 CLE-08 CLE-11 CLE-12 CLE-15 CLE-17 CLE-20 CLE-22 CLE-24 CLE-27 CLE-31 EV-03 EV-04 " +
	"RO-02 RO-04 RO-05 RO-06 RO-11 SV-08 SV-16 SV-18 SVM-15 SVM-24 SVM-27 SVM-29 SVM-30")

// What must never be fails however starved the machine is. The list says how far starvation
// reaches: a law that joins it has to say why.
func TestJudge_StarvationExplainsNothingButLateness(t *testing.T) {
	explained := map[string]bool{}
	for _, s := range allStories {
		if s.Want != story.Fail {
			continue
		}
		switch verdict := verdictOf(s, starvedThroughout(s.Events())); verdict {
		case Fail:
		case Inconclusive:
			explained[string(s.Requirement)] = true
			if reasons := resultOf(s, starvedThroughout(s.Events())).Reasons; !slices.ContainsFunc(reasons, law.BlamesStarvation) {
				t.Errorf("%s: no reason says that the machine was starved: %q", s.Name, reasons)
			}
		default:
			t.Errorf("%s: %s", s.Name, verdict)
		}
	}
	if got := slices.Sorted(maps.Keys(explained)); !slices.Equal(got, timely) {
		t.Errorf("starvation explains %v, want %v", got, timely)
	}
}

// starvedThroughout has the machine make processes wait from the first event to the last one.
func starvedThroughout(events []history.Event) []history.Event {
	end := events[len(events)-1].At
	ev := history.Event{Kind: history.KindStarvation, From: 1, At: end, Starvation: &history.Starvation{CPU: end - 1}}
	return numbered(slices.Insert(slices.Clone(events), len(events)-1, ev))
}

// A control plane whose disk is full fails in every way, and how it came to be full is no matter
// of it: not even what shows by itself counts then.
func TestJudge_NothingFailsOnceADiskMayBeFull(t *testing.T) {
	full := func(s story.Story, from int64) Verdict {
		events := slices.Clone(s.Events())
		ev := history.Event{Kind: history.KindStarvation, From: from, At: events[len(events)-1].At, Starvation: &history.Starvation{DiskFull: true}}
		return verdictOf(s, numbered(slices.Insert(events, len(events)-1, ev)))
	}
	for _, s := range allStories {
		if verdict := full(s, 1); verdict == Fail || verdict == Pass {
			t.Errorf("%s: %s", s.Name, verdict)
		}
	}
	for _, id := range []string{"RO-03", "SV-03", "CLE-13", "AD-01", "SVM-05"} {
		s := story.Named(allStories, id+"/fail")
		if end := s.Events()[len(s.Events())-1].At; full(s, end) != Fail {
			t.Errorf("%s does not fail though the disk filled later", s.Name)
		}
	}
}
