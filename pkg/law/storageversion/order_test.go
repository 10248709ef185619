package storageversion_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A map has no order, so that what leaks it shows within a few rounds.
func TestLaws_ManyBreachesComeInOneOrder(t *testing.T) {
	chaos := func() *historyBuilder {
		h := newHistory()
		revision := int64(10)
		many := []history.HostedResource{}
		for i := range 9 {
			many = append(many, history.HostedResource{Group: group, Resource: fmt.Sprint("r", i), Kind: "K", Served: []string{v1}, Persisted: true})
		}
		for n := range 2 {
			for _, m := range []string{"a", "b", "c"} {
				h.starts(m, n+1).asks(m, 403, 0).ready(m, 200, revision).lists(m, revision, many...)
			}
			for i := range 9 {
				name := fmt.Sprint("g.io.r", i)
				h.asks("a", 200, revision+1, func(ev *history.Event) { ev.Request.Resource = fmt.Sprint("r", i) })
				for j, entries := range [][]string{{"a=x", "b=y", "c=z"}, {"a=y", "b=x"}, {"c=x", "c=y"}, {"b=x", "z=x"}} {
					revision += 2
					h.disagrees(name, revision, entries...).says("."+name, revision+1, entries...)
					h.events[len(h.events)-1].Stored.StorageVersion.Conditions[0].Transition = started.AddDate(0, 0, -j)
				}
			}
			h.joins("a", revision+2).joins("b", revision+3)
			revision += 4
			h.holds(history.PhaseBegin, revision).pass(departedEntryGoes * 2)
			for _, m := range []string{"a", "b", "c"} {
				h.lists(m, revision, many...)
			}
			h.holds(history.PhaseEnd, revision)
		}
		return h
	}
	first := map[requirement.ID]check.Result{}
	for i := range 20 {
		for _, id := range storageversion.KEP().IDs() {
			r := chaos().judge(t, id)[0]
			if i == 0 {
				first[id] = r
			} else if !reflect.DeepEqual(r, first[id]) {
				t.Fatalf("%s gives\n%v\nand now\n%v", id, first[id].Violations, r.Violations)
			}
		}
	}
	for _, id := range []requirement.ID{"SV-01", "SV-02", "SV-03", "SV-09", "SV-12", "SV-14", "SV-21"} {
		if first[id].ViolationCount < 2 {
			t.Errorf("%s finds %d breaches, too few to put in order: %v", id, first[id].ViolationCount, first[id].Violations)
		}
	}
}
