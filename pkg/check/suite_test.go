package check

import (
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// What a suite is made of must be the same each time, and tell of every check what
// it counts.
func TestSuite(t *testing.T) {
	entries := suiteEntries()
	for range 20 { // maps are in another order each time
		if again := suiteEntries(); !reflect.DeepEqual(again, entries) {
			t.Fatalf("the second time it is\n%+v\nand the first\n%+v", again, entries)
		}
	}
	if len(entries) != len(registry) {
		t.Errorf("%d checks, and %d are built in", len(entries), len(registry))
	}
	for _, e := range entries {
		if len(e.Observations) == 0 {
			t.Errorf("%s counts nothing", e.ID)
		}
		needs := false
		for _, o := range e.Observations {
			needs = needs || o.Need > 0
			if o.Seen != 0 || o.What == "" {
				t.Errorf("%s counts %+v before it has seen anything", e.ID, o)
			}
		}
		if !needs {
			t.Errorf("%s would pass without having seen anything", e.ID)
		}
		if _, known := requirement.Lookup(e.ID); !known {
			t.Errorf("%s is not in the catalogue", e.ID)
		}
	}
	if len(Suite()) != 64 {
		t.Errorf("the suite is %q", Suite())
	}
}
