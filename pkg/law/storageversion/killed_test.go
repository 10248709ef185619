package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A run that is killed may have asked for what etcd told of last, and its history does not say
// so. One that ended says all that it asked for.
func TestKilledRun_ProvesNothingOfWhatTheHarnessMayHaveAskedFor(t *testing.T) {
	requestsEnd := requirement.MustBound("KEP-2339", "requestsEndWithin")
	sv20, _ := requirement.Lookup("SV-20")
	stripped := func() *historyBuilder { return led(v1).says(things, 12, "a="+v1) }
	for name, tc := range map[string]struct {
		h    *historyBuilder
		want check.Verdict
	}{
		"at once":               {stripped(), check.Inconclusive},
		"within the bound":      {stripped().pass(requestsEnd-time.Second).ready("a", 200, 13), check.Inconclusive},
		"after the bound":       {stripped().pass(requestsEnd+time.Second).ready("a", 200, 13), check.Fail},
		"at once, and it ended": {stripped().ends(), check.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := check.Judge(tc.h, []requirement.Requirement{sv20})
			if err != nil {
				t.Fatal(err)
			}
			if got := j.Results[0]; got.Verdict != tc.want {
				t.Errorf("%s (%v, %v), want %s", got.Verdict, got.Violations, got.Reasons, tc.want)
			}
		})
	}
}
