package check

import (
	"slices"
	"testing"
	"time"
)

// Members of one release have the same documents when all is quiet. In which order they
// list things is AD-12's, and another release may host something else.
func TestAD25ComparesMembers(t *testing.T) {
	everything := append(slices.Clone(newer), "z.io/v1:masts")
	around := slices.Clone(everything)
	slices.Reverse(around)
	fewer := everything[:2]
	for name, tc := range map[string]struct {
		of   string
		has  []string
		want []string
	}{
		"the same":                     {of: "b", has: everything},
		"in another order":             {of: "b", has: around},
		"one less":                     {of: "b", has: fewer, want: []string{"a and b, which run the same release, have different documents"}},
		"one less, in another release": {of: "c", has: fewer},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute)
			for _, ev := range told.events {
				if ev.Member == "c" && ev.Process != nil {
					ev.Process.Release = "0"
				}
			}
			told.looksAt("a", said{union: everything, own: everything})
			told.looksAt(tc.of, said{union: tc.has, own: tc.has})
			told.blames(t, "AD-25", tc.want...)
		})
	}
}

// What is listed as current is there, unless an aggregated server would have to answer.
func TestAD25WantsWhatIsListedToBeThere(t *testing.T) {
	has := []string{"x.io/v1:ships", tides + "/v1:flows"}
	lone().hands(201).pass(time.Minute).looksAt("a", said{union: has, denied: []string{"x.io/v1", tides + "/v1"}}).
		blames(t, "AD-25", "a lists x.io/v1, but not in", "a lists x.io/v1, and has nothing at /apis/x.io/v1", "a lists tides.io/v1, but not in")
}
