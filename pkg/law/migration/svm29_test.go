package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// SVM-29 asks nothing of a migration of a resource that cannot be migrated: SVM-18 judges those of a
// resource that no server hosts, SVM-19 those of one that no server stores.
func TestSVM29_AsksOnlyOfWhatCanBeMigrated(t *testing.T) {
	stuck := Resource{"other.io", "others"}
	bound := mustBound("SVM-29", "beginsWithin")
	reviews := history.HostedResource{Group: group, Resource: "reviews", Kind: "Review", Served: []string{v1}}
	told := func(of Resource, took time.Duration, more ...history.HostedResource) *historyBuilder {
		b := newHistory().starts("a", 1).ready("a", 200, 0).hosts("a", 1, more...).starts("b", 1).hosts("b", 2, more...).starts("c", 1).hosts("c", 3, more...)
		b.joins("a", 4).joins("b", 5).announces(things, 6, "a="+v2, "b="+v2).stores("x", v1, "m", 7, 7, 1).manages("a", 8)
		return b.after(20*time.Second).migrates("o", 10, 10, 0).of(stuck).migrates("m", 12, 12, 0).of(of).after(took).migrates("m", 12, 20, 0, nowFailed).of(of)
	}
	thing, review, nothing := Resource{group, "things"}, Resource{group, "reviews"}, Resource{group, "nothings"}
	for name, tc := range map[string]struct {
		history *historyBuilder
		asked   bool
	}{
		"of a stored resource, in time":               {told(thing, bound-time.Second), true},
		"of a resource that no server hosts, late":    {told(nothing, bound+time.Minute), false},
		"of a resource that no server stores, late":   {told(review, bound+time.Minute, reviews), false},
		"of one that no server stores, with a Status": {told(review, bound+time.Minute, reviews, history.HostedResource{Group: group, Resource: "reviews/status", Kind: "Review", Served: []string{v1}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			if o := tc.history.finds(t, "SVM-29").Obligations; (o.Met+o.Open+o.Unclear > 0) != tc.asked {
				t.Errorf("the obligations are %+v", o)
			}
		})
	}
	told(thing, bound+time.Minute).finds(t, "SVM-29", "migration m of things.g.io had not begun")
}
