package migration

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/law/migration/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// judged judges events by one requirement.
func judged(t *testing.T, header history.Header, events []history.Event, req requirement.Requirement) law.Result {
	t.Helper()
	h := fact.NewHistory(header)
	facts := KEP().Begin(h)
	for i := range events {
		h.Observe(&events[i])
		facts.Observe(&events[i])
	}
	row, ledger := facts.Judge(req.ID)
	if row.ID != req.ID {
		t.Fatalf("no law for %s", req.ID)
	}
	return law.Weigh(req, row, ledger, h, nil)
}

// mustLookup is a requirement; that of SVM-16 asks for as many objects as its story has.
func mustLookup(t *testing.T, id requirement.ID) requirement.Requirement {
	t.Helper()
	req, ok := requirement.Lookup(id)
	if !ok {
		t.Fatalf("no requirement %s", id)
	}
	req.Needs = slices.Clone(req.Needs)
	for i := range req.Needs {
		req.Needs[i].Least = min(req.Needs[i].Least, stories.LargeObjects)
	}
	return req
}

func TestStories(t *testing.T) {
	verdicts := map[story.Outcome]law.Verdict{story.Pass: law.Pass, story.Fail: law.Fail, story.Inconclusive: law.Inconclusive}
	for _, s := range stories.All() {
		t.Run(s.Name, func(t *testing.T) {
			r := judged(t, s.Header(), s.Events(), mustLookup(t, s.Requirement))
			if r.Verdict != verdicts[s.Want] {
				t.Errorf("%s: %q %v %v %+v", r.Verdict, r.Reasons, r.Violations, r.Observations, r.Obligations)
			}
			t.Logf("%q %v", strings.Join(r.Reasons, "; "), r.Violations)
		})
	}
}
