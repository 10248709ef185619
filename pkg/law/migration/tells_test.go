package migration

import (
	"fmt"
	"testing"
	"time"
)

// What is told once, when a migration begins, does not show its progress while it runs.
func TestSVM17_ProgressIsToldAgain(t *testing.T) {
	// runs has a migration rewrite an object each five seconds, pause once, and tell of it each
	// time that so many were rewritten.
	runs := func(every int64, pause time.Duration) *historyBuilder {
		b := newHistory().joins("a", 1).announces(things, 3, "a="+v2)
		for i := range int64(60) {
			b.stores(fmt.Sprint("x", i), v1, "m", 10+i, 10+i, i+1)
		}
		b.manages("a", 1000).waits(20*time.Second).migrates("m", 1001, 1001, 0).migrates("m", 1001, 1002, 1001, nowRuns)
		for i := range int64(60) {
			if i%every == 0 {
				b.migrates("m", 1001, 1100+2*i, 1001, nowRuns)
			}
			if i == 30 {
				b.after(pause)
			}
			b.after(5*time.Second).stores(fmt.Sprint("x", i), v2, "m", 10+i, 1101+2*i, 0)
		}
		return b.migrates("m", 1001, 2000, 1001, nowSucceeded)
	}
	const silent = "rewrote objects for"
	runs(60, 0).finds(t, "SVM-17", silent)
	runs(8, 0).finds(t, "SVM-17", silent)
	// There is nothing to tell while it gets nowhere, and then it has to get the time to write.
	for pause, every := range map[time.Duration]int64{0: 2, time.Hour: 1} {
		if r := runs(every, pause).finds(t, "SVM-17"); len(r.Reasons) > 0 {
			t.Errorf("tells each %d objects: %q", every, r.Reasons)
		}
	}
}
