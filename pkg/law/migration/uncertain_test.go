package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// The recorder of etcd heard nothing while something happened that a migration has to outlive, or
// while what excuses it came about: whether its end is a breach is not certain.
func TestABreachIsUnclearWhereItIsNotCertainWhenEtcdMadeAChange(t *testing.T) {
	pending := func() *historyBuilder {
		return upgraded().manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0)
	}
	// during has something happen shortly before the migration was told to run: it may have run.
	during := func(happens func(*historyBuilder) *historyBuilder) *historyBuilder {
		return happens(pending().after(4*time.Second)).delayed(4*time.Second).migrates("m", 10, 12, 11, nowRuns)
	}
	crash := func(b *historyBuilder) *historyBuilder { return b.manager("a", history.ProcessExited) }
	restart := func(b *historyBuilder) *historyBuilder { return b.starts("b", 1).after(time.Second).exits("b", 1) }
	failed := func(b *historyBuilder) *historyBuilder { return b.migrates("m", 10, 20, 11, nowFailed) }
	// regained has it fail about as long after a loss of the agreement as it may because of that.
	regained := func() *historyBuilder {
		b := restart(pending().migrates("m", 10, 12, 11, nowRuns).waits(time.Second)).announces(things, 13, "a="+v2, "b="+v1)
		return b.after(time.Second).announces(things, 14, "a="+v2, "b="+v2).after(mustBound("SVM-21", "endsWithin") + statusWrites() - 2*time.Second)
	}
	// flips has the definition change about as long before the success as that may take to be written.
	flips := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").migrates("m", 10, 10, 0).
			migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).defines("v1", 3, 18, "v1", "v2").after(statusWrites() - 2*time.Second)
	}
	lost := func() *historyBuilder {
		return pending().migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0).announces(things, 14, "a="+v2, "b="+v1).after(statusWrites() - 2*time.Second)
	}
	succeeded := func(b *historyBuilder) *historyBuilder { return b.migrates("m", 10, 20, 11, nowSucceeded) }
	for name, tc := range map[string]struct {
		of      []requirement.ID
		told    *historyBuilder
		unclear int64
	}{
		"a crash when it may have run":                   {[]requirement.ID{"SVM-11"}, failed(during(crash)), 1},
		"a crash when it may have run, and it succeeds":  {[]requirement.ID{"SVM-11"}, succeeded(during(crash)), 0},
		"a restart when it may have run":                 {[]requirement.ID{"SVM-13"}, failed(during(restart)), 1},
		"a restart before it ran":                        {[]requirement.ID{"SVM-13"}, failed(restart(pending()).waits(time.Second).migrates("m", 10, 12, 11, nowRuns)), 0},
		"an error when it may have run":                  {[]requirement.ID{"SVM-10"}, failed(during(func(b *historyBuilder) *historyBuilder { return b.errs("x", 503) })), 1},
		"a failure after the agreement was back":         {[]requirement.ID{"SVM-13", "SVM-16"}, failed(regained().delayed(4 * time.Second)), 1},
		"one so soon that it may be for that":            {[]requirement.ID{"SVM-13", "SVM-16"}, failed(regained()), 0},
		"a success long after a change of the agreement": {[]requirement.ID{"SVM-04", "SVM-16"}, succeeded(flips().delayed(4 * time.Second)), 1},
		"a success long after a loss of the agreement":   {[]requirement.ID{"SVM-21"}, succeeded(lost().delayed(4 * time.Second)), 1},
		"one that was being written at the loss":         {[]requirement.ID{"SVM-21"}, succeeded(lost()), 0},
		"one that was being written then":                {[]requirement.ID{"SVM-04", "SVM-16"}, succeeded(flips()), 0},
	} {
		for _, id := range tc.of {
			t.Run(name+", by "+string(id), func(t *testing.T) {
				if r := tc.told.finds(t, id); r.Obligations.Unclear != tc.unclear {
					t.Errorf("%+v %q", r.Obligations, r.Reasons)
				}
			})
		}
	}
	// What may have been before it ran counts for nothing.
	met := during(func(b *historyBuilder) *historyBuilder { return b.errs("x", 503) }).stores("x", v2, "m", 5, 14, 0)
	counted(t, succeeded(met).finds(t, "SVM-10"), "errors that pass by themselves under", 0)
	// Where it is certain it is a breach, as is what is as it should be for neither.
	succeeded(lost().after(4*time.Second)).finds(t, "SVM-21", "migration m succeeded at revision 20")
	succeeded(flips().stores("x", group+"/v0", "m", 5, 19, 0).delayed(4*time.Second)).finds(t, "SVM-04", "are not stored as g.io/v2")
	succeeded(flips().after(4*time.Second)).finds(t, "SVM-04", "are not stored as g.io/v1")
	failed(regained().after(4*time.Second)).finds(t, "SVM-13", "failed (R: 20) after API servers had been restarted")
}
