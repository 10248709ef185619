package observe

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A recorder that gives up as soon as SV-10 is broken would leave a gap before the breach or
// after it, by chance.
func TestHammer_OutlastsTheBoundOfRegistration(t *testing.T) {
	const margin = 10 * time.Second
	if registers := requirement.MustBound("SV-10", "registers"); HammerLongest < registers+margin {
		t.Errorf("a server is hammered for %v, and SV-10 waits %v for it", HammerLongest, registers)
	}
}

func TestVisibility_AsksUntilALateMemberIsRecordedAsLate(t *testing.T) {
	if bound := requirement.MustBound("RO-06", "showsWithin"); VisibilityWait <= bound {
		t.Errorf("members are asked for %s, and RO-06 finds one late after %s", VisibilityWait, bound)
	}
}
