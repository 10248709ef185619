package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// TestRecordersOutlastWhatIsJudged: a recorder that gives up as soon as a check would
// blame somebody leaves a gap first or not, as it happens.
func TestRecordersOutlastWhatIsJudged(t *testing.T) {
	registers := requirement.MustBound("SV-10", "registers")
	const margin = 10 * time.Second
	if observe.HammerLongest < registers+margin {
		t.Errorf("a server is hammered for %v, and SV-10 waits %v for it", observe.HammerLongest, registers)
	}
}
