package migration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func mustBound(id requirement.ID, name string) time.Duration { return requirement.MustBound(id, name) }

// brackets are histories in which something takes as long as is given, while a controller
// works all the time, by the bound that it is held against.
func brackets() map[string]func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
	begun := func(b *historyBuilder) *historyBuilder {
		return b.manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	return map[string]func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder{
		"SVM-21 stopsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(begun(b).announces(things, 13, "a="+v2, "b="+v1)).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 15, 11, nowFailed)
		},
		"SVM-21 endsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(begun(b).announces(things, 13, "a="+v2, "b="+v1)).migrates("m", 10, 15, 11, nowFailed)
		},
		"SVM-24 beginsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(begun(b).migrates("n", 13, 13, 0).drops("m", 15)).migrates("n", 13, 16, 15, nowRuns)
		},
		"SVM-17 long": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(begun(b)).migrates("m", 10, 20, 11, nowSucceeded)
		},
		"SVM-17 long told": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b = took(begun(b)).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 15, 11, nowRuns, "Told").after(2 * time.Second)
			return b.migrates("m", 10, 20, 11, nowSucceeded)
		},
		"SVM-18 failsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.hosts("a", 5).hosts("b", 5).hosts("c", 5).manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).of(Resource{"no.io", "nothings"})
			return took(b).migrates("m", 10, 12, 0, nowFailed).of(Resource{"no.io", "nothings"})
		},
		"SVM-24 unmarksWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.defines("v2", 2, 6, "v1", "v2").manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns)
			return took(b.drops("m", 15)).migrating("False", 16)
		},
		"SVM-13 goesOnWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(begun(b).starts("b", 1).exits("b", 1)).drops("m", 15)
		},
		"SVM-19 open": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(b.manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0)).drops("m", 15)
		},
		"SVM-19 failsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			review := history.HostedResource{Group: "re.io", Resource: "reviews", Kind: "Review", Served: []string{"re.io/v1"}}
			b.hosts("a", 5, review).hosts("b", 5, review).hosts("c", 5, review).manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).of(Resource{"re.io", "reviews"})
			return took(b).migrates("m", 10, 12, 0, nowFailed).of(Resource{"re.io", "reviews"})
		},
		"SVM-27 trimsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.defines("v2", 2, 7, "v1", "v2").manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
			return took(b.stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded)).defines("v2", 2, 22, "v2")
		},
		"SVM-29 beginsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.manages("a", 8).after(20*time.Second).migrates("o", 10, 10, 0).of(Resource{"other.io", "others"}).migrates("m", 12, 12, 0)
			return took(b).migrates("m", 12, 14, 13, nowRuns)
		},
		"SVM-30 beginsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.header.Topology = &history.Topology{Settings: map[string]string{automaticSetting: "true"}}
			b.manages("a", 8).after(20*time.Second).announces(things, 10, "a="+v2, "b="+v1).announces(things, 12, "a="+v2, "b="+v2)
			return took(b).migrates("m", 14, 14, 0)
		},
		"SVM-24 stopsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			return took(begun(b).drops("m", 13)).stores("x", v2, "m", 5, 14, 0)
		},
	}
}

// endings tell whether a row was found late or broken, and whether it was neither that nor
// unclear.
func endings(r law.Result) (late, sure bool) {
	c := r.Obligations
	return r.ViolationCount > 0, r.ViolationCount == 0 && c.Unclear == 0
}

func TestBrackets(t *testing.T) {
	for name, build := range brackets() {
		t.Run(name, func(t *testing.T) {
			var id, bound string
			if _, err := fmt.Sscan(name, &id, &bound); err != nil {
				t.Fatal(err)
			}
			of := requirement.ID(id)
			if bound == "goesOnWithin" {
				of = "KEP-25" // a notion
			}
			within := mustBound(of, bound)
			judge := func(d time.Duration, delay time.Duration) law.Result {
				took := func(b *historyBuilder) *historyBuilder {
					if b.after(d); delay > 0 {
						b.delayed(delay)
					}
					return b
				}
				return build(upgraded(), took).judge(t, requirement.ID(id))[0]
			}
			if late, sure := endings(judge(within-time.Second, 0)); late || !sure {
				t.Error("just inside the bound it is not clearly in time")
			}
			if late, _ := endings(judge(within+time.Second, 0)); !late {
				t.Error("just outside the bound it is not found")
			}
			r := judge(within-2*time.Second, 4*time.Second)
			if late, _ := endings(r); late {
				t.Errorf("what may have been in time is found: %v", r.Violations)
			}
			if r.Verdict == law.Pass {
				t.Error("what may have been late passes")
			}
		})
	}
}

// Every bound of a law is in the catalog: a name that is not panics.
func TestEveryLawFindsItsBounds(t *testing.T) {
	for _, id := range KEP().IDs() {
		b := on(t, "SVM-11").manager("cp1", history.ProcessExited)
		r := b.judge(t, id)[0]
		if r.Verdict == "" {
			t.Errorf("%s has no verdict", id)
		}
	}
}

func mustNumber(id requirement.ID, name string) float64 { return requirement.MustNumber(id, name) }

// What changed longer ago than the bound has to be shown; what may have changed later need
// not be.
func TestSVM25ShowsWithinTheBound(t *testing.T) {
	within := mustBound("SVM-25", "showsWithin")
	hidden := func(d, delay time.Duration) law.Result {
		b := crossing().holds(history.PhaseBegin, 8).listsMigrations("a", 200)
		if delay > 0 {
			b.delayed(delay)
		}
		return b.migration("m", 9, 5).after(d).holds(history.PhaseEnd, 51).judge(t, "SVM-25")[0]
	}
	for _, tc := range []struct {
		took, delay time.Duration
		found       bool
	}{{within - time.Second, 0, false}, {within + time.Second, 0, true}, {within - 2*time.Second, 4 * time.Second, false}} {
		if r := hidden(tc.took, tc.delay); (r.Verdict == law.Fail) != tc.found || r.Verdict == law.Pass {
			t.Errorf("%v ago, and up to %v longer: %s", tc.took, tc.delay, r.Verdict)
		}
	}
}

// A watch has to show a change within the bound, whether or not a hold ends meanwhile.
func TestSVM25ShowsEachChangeWithinTheBound(t *testing.T) {
	within := mustBound("SVM-25", "showsWithin")
	shown := func(d, delay time.Duration) law.Result {
		b := crossing()
		if delay > 0 {
			b.delayed(delay)
		}
		return b.migration("m", 9, 5).after(d).sees("a", "MODIFIED", "m", 9).judge(t, "SVM-25")[0]
	}
	for _, tc := range []struct {
		took, delay time.Duration
		late, sure  bool
	}{{within - time.Second, 0, false, true}, {within + time.Second, 0, true, false}, {within - 2*time.Second, 4 * time.Second, false, false}} {
		if late, sure := endings(shown(tc.took, tc.delay)); late != tc.late || sure != tc.sure {
			t.Errorf("after %v, and up to %v more: late %t, clearly in time %t", tc.took, tc.delay, late, sure)
		}
	}
	// A watch that is open again lists what changed meanwhile.
	again := crossing().refusedWatch("a", 0).migration("m", 9, 5).after(time.Minute).sees("a", history.WatchOpened, "", 9).sees("a", "ADDED", "m", 9)
	if late, sure := endings(again.judge(t, "SVM-25")[0]); late || !sure {
		t.Error("what changed while no watch was open is found late")
	}
}

// A trim before a success is one by a migration that succeeds, if that comes soon enough.
func TestSVM23SucceedsAfterTheTrim(t *testing.T) {
	within := mustBound("SVM-23", "succeedsAfter")
	trimmed := func(d, delay time.Duration) law.Result {
		b := newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
		if delay > 0 {
			b.delayed(delay)
		}
		return b.stores("x", v2, "m", 5, 14, 0).defines("v2", 2, 15, "v2").after(d).judge(t, "SVM-23")[0]
	}
	for _, tc := range []struct {
		took, delay time.Duration
		found       bool
	}{{within - time.Second, 0, false}, {within + time.Second, 0, true}, {within - 2*time.Second, 4 * time.Second, false}} {
		if r := trimmed(tc.took, tc.delay); (r.Verdict == law.Fail) != tc.found || r.Verdict == law.Pass {
			t.Errorf("%v after it, and up to %v longer: %s", tc.took, tc.delay, r.Verdict)
		}
	}
}

func TestSVM12RepeatsAChunk(t *testing.T) {
	chunk := int(mustNumber("SVM-12", "chunk"))
	all := int(float64(chunk)/mustNumber("SVM-12", "repeats")) + 100
	done := int(mustNumber("SVM-12", "interruptedBeyond")*float64(all)) + 10
	repeats := func(n int) *historyBuilder {
		b := upgraded().manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
		for i := range done {
			b.errs(fmt.Sprint("y", i), 200)
		}
		b.process("a", history.Process{Component: history.ComponentControllerManager, Change: history.ProcessExited, Instance: 1})
		b.process("a", history.Process{Component: history.ComponentControllerManager, Change: history.ProcessStarted, Instance: 2})
		b.after(20 * time.Second)
		for i := done - n; i < all; i++ {
			b.errs(fmt.Sprint("y", i), 200)
		}
		return b.migrates("m", 10, 20, 11, nowSucceeded)
	}
	repeats(chunk).finds(t, "SVM-12")
	repeats(chunk+1).finds(t, "SVM-12", "of those were written again afterwards")
}

func TestSVM15Rate(t *testing.T) {
	const over = 10 * time.Second
	most := int(mustNumber("SVM-15", "rate") * (over + mustBound("SVM-15", "heldUp")).Seconds())
	writes := func(n int) *historyBuilder {
		b := newHistory().joins("a", 1).announces(things, 3, "a="+v2)
		for i := range n + 1 {
			b.stores(fmt.Sprint("x", i), v1, "m", int64(10+i), int64(10+i), int64(i+1))
		}
		b.migrates("m", 1001, 1001, 0).migrates("m", 1001, 1002, 1001, nowRuns)
		began := b.now
		for i := range n + 1 {
			b.now = began + int64(over)*int64(i)/int64(n)
			b.stores(fmt.Sprint("x", i), v2, "m", int64(10+i), int64(1010+i), 0)
		}
		return b.migrates("m", 1001, 2000, 1001, nowSucceeded)
	}
	writes(most).finds(t, "SVM-15")
	writes(most+1).finds(t, "SVM-15", "and 10 a second are declared")
}

// statusWrites: so soon after a crash the success may have been on its way.
func TestStatusWrites(t *testing.T) {
	const survived = "after the controller that led had ended"
	crashed := func(d, delay time.Duration) law.Result {
		b := upgraded().manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).waits(time.Second).manager("a", history.ProcessExited).after(d)
		if delay > 0 {
			b.delayed(delay)
		}
		return b.migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-11")
	}
	counted(t, crashed(statusWrites()-time.Second, 0), survived, 0)
	counted(t, crashed(statusWrites()+time.Second, 0), survived, 1)
	counted(t, crashed(statusWrites()-2*time.Second, 4*time.Second), survived, 0)
}

// restLands: so soon after an end what is rewritten may be the rest.
func TestRestLands(t *testing.T) {
	after := func(d time.Duration) *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 13, 11, nowFailed).after(d).stores("x", v2, "other", 5, 14, 0)
	}
	after(restLands()-time.Second).finds(t, "SVM-05", "by migration m, and its metadata is not what it was")
	after(restLands()+time.Second).finds(t, "SVM-05")
}

// What was accepted longer before the end than the recorder of etcd is late has to be in etcd.
func TestAcceptedWritesShow(t *testing.T) {
	accepted := func(d time.Duration) law.Result {
		b := upgraded().requests("a", 200, 0, func(ev *history.Event) { ev.Request.Write = 77 })
		return b.waits(d).finds(t, "SVM-07")
	}
	const never = "never showed in etcd under their tag"
	if r := accepted(500 * time.Millisecond); strings.Contains(fmt.Sprint(r.Reasons), never) {
		t.Error("what may still show is missing")
	}
	reason(t, accepted(1500*time.Millisecond), never)
}

// controllerStarts: the clock stands while a controller that comes to lead starts.
func TestControllerStarts(t *testing.T) {
	led := func(d time.Duration) *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).manages("a", 11).waits(d).drops("m", 12)
	}
	within := controllerStarts() + mustBound("SVM-19", "open")
	led(within-time.Second).finds(t, "SVM-19")
	led(within+time.Second).finds(t, "SVM-19", "has not begun for")
}

// passesObject: a controller that begins anew comes again past what is in the target version.
func TestPassesObject(t *testing.T) {
	const objects = 1000
	runs := func(d time.Duration) *historyBuilder {
		b := upgraded()
		for i := range objects {
			b.stores(fmt.Sprint("y", i), v2, "m", int64(10+i), int64(10+i), int64(i+2))
		}
		return b.manages("a", 2000).after(20*time.Second).migrates("m", 2010, 2010, 0).migrates("m", 2010, 2012, 2011, nowRuns).waits(d).drops("m", 2013)
	}
	within := mustBound("SVM-19", "open") + objects*passesObject()
	runs(within-time.Second).finds(t, "SVM-19")
	runs(within+time.Second).finds(t, "SVM-19", "has not come to an end")
}
