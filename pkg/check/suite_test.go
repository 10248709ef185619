package check

import (
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func TestSuite_IsTheSameEachTime(t *testing.T) {
	entries := suiteEntries()
	for range 20 { // maps are in another order each time
		if again := suiteEntries(); !reflect.DeepEqual(again, entries) {
			t.Fatalf("the second time it is\n%+v\nand the first\n%+v", again, entries)
		}
	}
	if len(Suite()) != 64 {
		t.Errorf("the suite is %q", Suite())
	}
}

func TestSuite_DoesNotCoverWording(t *testing.T) {
	for _, d := range withoutWords(requirement.Deviations()) {
		if d.Differs != "" || d.Source != "" {
			t.Errorf("the suite covers the sentence of deviation %s", d.ID)
		}
	}
}

func TestLaws_NeedWhatTheCatalogNames(t *testing.T) {
	for _, k := range keps {
		facts := k.Begin(fact.NewHistory(history.Header{}))
		for _, row := range k.Rows() {
			req, ok := requirement.Lookup(row.ID)
			if !ok {
				t.Errorf("%s is not in the catalog", row.ID)
				continue
			}
			if len(row.Needs) == 0 {
				t.Errorf("%s would pass without having seen anything", row.ID)
			}
			some := false
			for _, n := range row.Needs {
				need := req.MustNeed(n.Name)
				some = some || need.Least > 0
			}
			if !some {
				t.Errorf("%s would pass without having seen anything", row.ID)
			}
			if len(req.Needs) != len(row.Needs) {
				t.Errorf("%s: the catalog has %d needs, and the law %d", row.ID, len(req.Needs), len(row.Needs))
			}
			if _, ledger := facts.Judge(row.ID); len(ledger.Entries) > 0 {
				t.Errorf("%s enters obligations of a history without events: %+v", row.ID, ledger.Entries)
			}
		}
	}
}
