package discovery_test

import (
	"testing"
	"time"
)

// What an aggregated server hosts is listed at the first moment of readiness, fetched or not.
func TestAD15_APIServicesAreListedAtOnce(t *testing.T) {
	flows := tides + "/v1:flows"
	for name, c := range map[string]struct {
		before time.Duration // of the start
		gone   bool          // whether the APIService is
		first  []string
		want   []string
	}{
		"it is there":         {time.Minute, false, []string{steady, flows}, nil},
		"it is stale":         {time.Minute, false, []string{steady, flows + "!"}, nil},
		"it is not there":     {time.Minute, false, []string{steady}, []string{"a was ready and does not list tides.io/v1, which was defined before it started"}},
		"it came just before": {time.Second, false, []string{steady}, nil},
		"it went":             {time.Minute, true, []string{steady}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().hands(201)
			if c.gone {
				told.removesTides()
			}
			told.pass(c.before).stops("a", 1).starts("a", 2).ready("a", 200, 6).listsAll("a", c.first...)
			told.pass(time.Second).listsAll("a", steady, flows).blames(t, "AD-15", c.want...)
		})
	}
}
