package law_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func TestNeed_Counts(t *testing.T) {
	h := fact.NewHistory(history.Header{Members: []history.MemberHeader{{Name: "a"}, {Name: "b"}}})
	ledger := law.Ledger{Entries: []law.Entry{
		{Ending: law.Met, Member: "a", About: "x", Tags: []string{"t"}},
		{Ending: law.Met, Member: "a", About: "x"},
		{Ending: law.Met, Member: "b", About: "x", Tags: []string{"t"}, Times: 4},
		{Ending: law.Broken, Member: "b", About: "y", Tags: []string{"t"}},
		{Ending: law.Late, Member: "a", About: "z"},
		{Ending: law.Unclear, Member: "a"}, {Ending: law.Excused, Member: "a"}, {Ending: law.Superseded, Member: "a"}, {Ending: law.Open, Member: "a"},
	}}
	for name, tc := range map[string]struct {
		need law.Need
		want int64
	}{
		"what was met":                          {law.Need{}, 6},
		"what was met with a tag":               {law.Need{Tag: "t"}, 5},
		"what no obligation has":                {law.Need{Tag: "other"}, 0},
		"of the member with the fewest":         {law.Need{Each: true}, 2},
		"with a tag, of that member":            {law.Need{Tag: "t", Each: true}, 1},
		"what they are about, each once":        {law.Need{Distinct: true}, 2},
		"what was late or broken too":           {law.Need{Breaches: true}, 8},
		"with a tag, also broken":               {law.Need{Tag: "t", Breaches: true}, 6},
		"what they are about, also of a breach": {law.Need{Distinct: true, Breaches: true}, 4},
	} {
		tc.need.Name = "things"
		req := requirement.Requirement{ID: "XX-01", Needs: []requirement.Need{{Name: "things", What: "things", Least: tc.want + 1}}}
		r := law.Weigh(req, law.Row{ID: req.ID, Needs: []law.Need{tc.need}}, &ledger, h, nil)
		if o := r.Observations; len(o) != 1 || o[0].Seen != tc.want || o[0].Need != tc.want+1 {
			t.Errorf("%s: %+v, want %d", name, o, tc.want)
		}
	}
}
