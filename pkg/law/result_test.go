package law_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// weigh weighs a ledger of CLE-20, which asks for one obligation, by a history in which
// the recorder of etcd missed something at the event missed; 0 is never.
func weigh(t *testing.T, header history.Header, missed int64, doubts []string, entries ...law.Entry) law.Result {
	t.Helper()
	req, ok := requirement.Lookup("CLE-20")
	if !ok {
		t.Fatal("there is no requirement CLE-20")
	}
	h := fact.NewHistory(header)
	for seq := int64(1); seq <= 20; seq++ {
		ev := history.Event{Seq: seq, At: seq * s}
		if seq == missed {
			ev.RecorderMissed = &history.RecorderMissed{Source: string(fact.Etcd)}
		}
		h.Observe(&ev)
	}
	row := law.Row{ID: req.ID, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "claimed", Breaches: true}}, Kinds: []string{"unclaimed"}}
	return law.Weigh(req, row, &law.Ledger{Entries: entries}, h, doubts)
}

func TestWeigh_GivesTheVerdictOfALedger(t *testing.T) {
	met := law.Entry{Ending: law.Met}
	broken := law.Entry{Ending: law.Broken, Why: "it broke", Evidence: []int64{5}}
	evident := broken
	evident.SelfEvident = true
	absent := broken
	absent.Through = 12
	documented := law.Entry{Ending: law.Late, Why: "unclaimed", Evidence: []int64{5}, Kind: "unclaimed", Release: "v1.35.4"}
	undeclared := documented
	undeclared.Kind = "of no declared kind"
	kubernetes := history.Header{Distribution: "kubernetes"}
	strict := history.Header{Distribution: "kubernetes", Strict: true}
	for name, tc := range map[string]struct {
		header  history.Header
		missed  int64
		doubts  []string
		entries []law.Entry
		want    law.Verdict
		reason  string
	}{
		"enough was met":                          {entries: []law.Entry{met}, want: law.Pass},
		"nothing was seen":                        {want: law.Inconclusive, reason: "needs at least 1"},
		"one was late":                            {entries: []law.Entry{met, {Ending: law.Late, Why: "late"}}, want: law.Fail},
		"one was broken":                          {entries: []law.Entry{met, broken}, want: law.Fail},
		"one stayed open":                         {entries: []law.Entry{met, {Ending: law.Open, Why: "open"}}, want: law.Inconclusive, reason: "1 open"},
		"one stayed unclear":                      {entries: []law.Entry{met, {Ending: law.Unclear, Why: "unclear"}}, want: law.Inconclusive, reason: "1 obligations stayed unclear"},
		"as many excused as met":                  {entries: []law.Entry{met, {Ending: law.Excused, Why: "so"}}, want: law.Pass},
		"more excused than met":                   {entries: []law.Entry{met, {Ending: law.Excused, Why: "so"}, {Ending: law.Excused, Why: "so"}}, want: law.Inconclusive, reason: "so (2)"},
		"superseded ones count for nothing":       {entries: []law.Entry{{Ending: law.Superseded}}, want: law.Inconclusive, reason: "needs at least 1"},
		"a doubt about the history":               {doubts: []string{"it is damaged"}, entries: []law.Entry{met}, want: law.Inconclusive, reason: "it is damaged"},
		"a doubt hides no breach":                 {doubts: []string{"it is damaged"}, entries: []law.Entry{broken}, want: law.Fail},
		"a recorder missed something":             {missed: 8, entries: []law.Entry{met}, want: law.Inconclusive, reason: "may have missed something"},
		"a breach before that":                    {missed: 8, entries: []law.Entry{broken}, want: law.Fail},
		"a breach after that":                     {missed: 3, entries: []law.Entry{broken}, want: law.Inconclusive, reason: "they prove nothing"},
		"a breach that shows in itself":           {missed: 3, entries: []law.Entry{evident}, want: law.Fail},
		"a breach whose excuse may be missing":    {missed: 8, entries: []law.Entry{absent}, want: law.Inconclusive, reason: "they prove nothing"},
		"a breach whose excuse cannot be missing": {missed: 13, entries: []law.Entry{absent}, want: law.Fail},
		"a documented deviation":                  {header: kubernetes, entries: []law.Entry{documented}, want: law.Deviation},
		"a breach of another kind":                {header: kubernetes, entries: []law.Entry{undeclared}, want: law.Fail},
		"the same, strictly":                      {header: strict, entries: []law.Entry{documented}, want: law.Fail},
		"the same of another distribution":        {entries: []law.Entry{documented}, want: law.Fail},
		"a deviation and an obligation left open": {header: kubernetes, entries: []law.Entry{documented, {Ending: law.Open, Why: "open"}}, want: law.Inconclusive},
	} {
		r := weigh(t, tc.header, tc.missed, tc.doubts, tc.entries...)
		if r.Verdict != tc.want || !strings.Contains(fmt.Sprint(r.Reasons), tc.reason) {
			t.Errorf("%s: %s %q, want %s with %q", name, r.Verdict, r.Reasons, tc.want, tc.reason)
		}
	}
}

func TestWeigh_TellsHowObligationsEnded(t *testing.T) {
	r := weigh(t, history.Header{}, 0, nil, law.Entry{Ending: law.Met}, law.Entry{Ending: law.Excused, Why: "so"}, law.Entry{Ending: law.Superseded})
	if c := r.Obligations; c == nil || c.Met != 1 || c.Excused != 1 || c.Superseded != 1 || c.Excuses["so"] != 1 {
		t.Errorf("the counts are %+v", c)
	}
}

func TestWeigh_KeepsTheEvidenceOfTheFirstBreachesAndCountsAll(t *testing.T) {
	var many []law.Entry
	for i := range 30 {
		many = append(many, law.Entry{Ending: law.Broken, Why: fmt.Sprint(i), Evidence: []int64{1}})
	}
	r := weigh(t, history.Header{}, 0, nil, many...)
	if r.ViolationCount != 30 || len(r.Violations) != 20 || r.Violations[0].Message != "0" {
		t.Errorf("%d breaches are counted and %d kept", r.ViolationCount, len(r.Violations))
	}
}

func TestWeigh_NamesTheFirstAndTheLastThatWereMet(t *testing.T) {
	var entries []law.Entry
	for i := range int64(9) {
		entries = append(entries, law.Entry{Ending: law.Met, About: fmt.Sprint(i), Began: fact.Moment{Seq: i}})
	}
	entries = append(entries, law.Entry{Ending: law.Met, About: "shown", Evidence: []int64{3, 4, 5, 6}}, law.Entry{Ending: law.Excused, Why: "so", Began: fact.Moment{Seq: 12}})
	got := weigh(t, history.Header{}, 0, nil, entries...).Kept
	// The first has no event at all.
	if want := "[{1 [1]} {2 [2]} {shown [4 5 6]}]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A recorder of etcd that heard nothing most of the time leaves nothing to pass by.
func TestWeigh_ARecorderThatHeardNothingMostOfTheTimeIsNoPass(t *testing.T) {
	req, _ := requirement.Lookup("CLE-20")
	for from, want := range map[int64]law.Verdict{8: law.Inconclusive, 12: law.Pass} {
		h := fact.NewHistory(history.Header{})
		h.Observe(&history.Event{Seq: 1, At: 20 * s, From: from * s, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})
		row := law.Row{ID: req.ID, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "claimed"}}}
		if r := law.Weigh(req, row, &law.Ledger{Entries: []law.Entry{{Ending: law.Met}}}, h, nil); r.Verdict != want {
			t.Errorf("from %d s on: %s, want %s: %q", from, r.Verdict, want, r.Reasons)
		}
	}
}
