package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm18: the migration of a resource that no server hosts fails within a bound, and says
// why (KEP-4192, the resource version controller).
var svm18 = fails(law.Row{ID: "SVM-18", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: needs("failed")},
	func(f *Facts) (out []vain) {
		for _, m := range f.Migrations {
			out = append(out, m.unhosted()...)
		}
		return out
	}, "which no server hosts")

// fails has migrations that have nothing to migrate fail, with a reason and in time. One
// that succeeded while there was something to migrate need not.
func fails(row law.Row, over func(*Facts) []vain, what string) law.Deadline[*Facts, vain] {
	return law.Deadline[*Facts, vain]{
		Row:   row,
		Bound: "failsWithin",
		Over: func(f *Facts) []vain {
			return fact.Where(over(f), func(v vain) bool { return v.always() || v.until != nil || !v.Succeeded() })
		},
		Begin:   law.Once(func(v vain) fact.Moment { return v.since }),
		Running: func(v vain) fact.Signal { return v.clock() },
		Done:    func(v vain) []fact.Moment { return v.Moments(v.Ended) },
		Void:    vain.voids,
		Breaks:  func(v vain, e law.Entry) law.Entry { return v.saysWhy(e, what) },
		Breach: func(v vain, began fact.Moment, done *fact.Moment, took time.Duration) string {
			if done != nil && v.Failed() {
				took, _ = began.Until(*done)
				return fmt.Sprintf("migration %s of %s, %s, took %v to fail", v.Name, v.Of, what, rounded(took))
			}
			return fmt.Sprintf("migration %s of %s, %s, has not failed for %v", v.Name, v.Of, what, rounded(took))
		},
		// It may have failed for something else, or without a controller that could.
		Tag: func(v vain, began, done fact.Moment) []string {
			return inTime("failed", row.ID, "failsWithin", func(m *Migration) bool { return m.Seen && v.always() })(v.Migration, began, done)
		},
	}
}

// voids are when it did not have to fail any more.
func (v vain) voids() []law.Void {
	deleted := law.Voids("it was deleted before the bound was over", v.Moments(v.Gone)...)
	if v.until == nil {
		return deleted
	}
	return append(deleted, law.Voids("a server came to host its resource before the bound was over", *v.until)...)
}

// saysWhy breaks an obligation whose migration has succeeded with nothing to migrate, or does not
// say why it has failed.
func (v vain) saysWhy(e law.Entry, what string) law.Entry {
	switch reason := conditionOf(v.atEnd(), v.Outcome); {
	case v.until != nil:
	case v.Succeeded():
		return e.Broken("migration %s of %s, %s, succeeded", v.Name, v.Of, what).Shown(v.Created.Seq, v.Ended.Seq)
	case was(v.Ended) && (reason == nil || reason.Reason == "" || reason.Message == ""):
		return e.Broken("migration %s failed without a reason or a message", v.Name).Shown(v.Created.Seq, v.Ended.Seq)
	}
	return e
}
