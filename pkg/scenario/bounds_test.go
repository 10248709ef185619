package scenario

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// recordedAfter is for how long after the bound of a requirement a hold records what is late:
// the recorder of readiness asks several times in it.
const recordedAfter = 10 * time.Second

func TestSettle_WaitsUntilALateMemberIsRecordedAsLate(t *testing.T) {
	if least := requirement.MustBound("RO-02", "readyWithin") + recordedAfter; SettleTimeout < least {
		t.Errorf("a hold gives up after %s, and RO-02 finds a member late after %s", SettleTimeout, least)
	}
	if SettleTimeout >= StepTimeout {
		t.Errorf("a hold gives up after %s, and its step after %s", SettleTimeout, StepTimeout)
	}
}
