package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// A deletion of which the harness learnt no outcome excuses a removal three hours later.
func TestSV20_AnUnknownDeletionOfLongAgoExcusesNothing(t *testing.T) {
	for name, code := range map[string]int{"no answer": 0, "500": 500} {
		// The harness deleted it once; servers wrote it anew; three hours later the collector removes it.
		h := blinded().asks("a", code, 0, tampering(things)).deletes(things, 13).says(things, 14, "a="+v1, "b="+v1)
		h.pass(3*time.Hour).ready("a", 200, 14).deletes(things, 15).pass(time.Hour).ready("a", 200, 16)
		if r := h.judge(t, "SV-20")[0]; r.Verdict != check.Fail {
			t.Errorf("%s: SV-20 is %s", name, r.Verdict)
		}
	}
	// It is red where the outcome is known.
	blinded().asks("a", 200, 13, tampering(things)).deletes(things, 13).says(things, 14, "a="+v1, "b="+v1).
		pass(3*time.Hour).ready("a", 200, 14).deletes(things, 15).verdictOf(t, "SV-20", check.Fail)
}
