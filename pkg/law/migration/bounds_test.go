package migration

import (
	"fmt"
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
		"SVM-18 failsWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.hosts("a", 5).hosts("b", 5).hosts("c", 5).manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).of(Resource{"no.io", "nothings"})
			return took(b).migrates("m", 10, 12, 0, nowFailed).of(Resource{"no.io", "nothings"})
		},
		"SVM-24 unmarksWithin": func(b *historyBuilder, took func(*historyBuilder) *historyBuilder) *historyBuilder {
			b.defines("v2", 2, 6, "v1", "v2").manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns)
			return took(b.drops("m", 15)).migrating("False", 16)
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
			within := mustBound(requirement.ID(id), bound)
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

// Every bound of a law is in the catalogue: a name that is not panics.
func TestEveryLawFindsItsBounds(t *testing.T) {
	for _, id := range KEP().IDs() {
		b := on(t, "SVM-11").manager("cp1", history.ProcessExited)
		r := b.judge(t, id)[0]
		if r.Verdict == "" {
			t.Errorf("%s has no verdict", id)
		}
	}
}
