package discovery_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A breach that a change may explain once is a breach all the same where it lasts.
func TestABreachIsComplainedOfWhenNothingExplainsItAnyMore(t *testing.T) {
	again := func(t *historyBuilder) { t.hands(200) }
	current, stale := history.FreshnessCurrent, history.FreshnessStale
	lists := func(freshness string) func(*historyBuilder) {
		return func(t *historyBuilder) { t.listsTides(freshness) }
	}
	lacks := func(t *historyBuilder) { t.polled("a", "other.io/v1:others") }
	t.Run("AD-13", func(t *testing.T) {
		lone().serves("lamps", 201, "v1").serves("lamps", 200).pass(11*time.Second).
			hidden(func(t *historyBuilder) { t.serves("torches", 201, "v1") }, func(t *historyBuilder) { t.polled("a", lights+"/v1:lamps,torches") }).
			blames(t, "AD-13", "a still has lamps")
	})
	t.Run("AD-14", func(t *testing.T) {
		lone().backend(history.PhaseInject, "").hands(201).backend(history.PhaseWitness, "asked").
			hidden(again, lists(current)).blames(t, "AD-14", `after the server of tides.io/v1 could not be reached, a calls it "Current"`)
	})
	t.Run("AD-17", func(t *testing.T) {
		lone().hands(201).listsTides(current).backend(history.PhaseInject, "").backend(history.PhaseWitness, "asked").
			hidden(again, lacks).blames(t, "AD-17", "a does not list it any more")
	})
	t.Run("AD-18", func(t *testing.T) {
		lone().hands(201).listsTides(current).backend(history.PhaseInject, "").backend(history.PhaseWitness, "asked").listsTides(stale).
			backend(history.PhaseHeal, "").pass(71*time.Second).hidden(again, lists(stale)).blames(t, "AD-18", "a does not call it current")
	})
	t.Run("AD-19, what is missing", func(t *testing.T) {
		lone().hands(201).servesIn(tides, "piers", 201, "v1beta1").pass(11*time.Second).
			hidden(again, lists(current)).blames(t, "AD-19", "a does not list tides.io/v1beta1")
	})
	t.Run("AD-19, what is left", func(t *testing.T) {
		lone().hands(201).servesIn(tides, "piers", 201, "v1beta1").servesIn(tides, "piers", 200).pass(11*time.Second).
			hidden(again, func(t *historyBuilder) { t.polled("a", tides+"/v1:flows", tides+"/v1beta1:piers") }).blames(t, "AD-19", "a still lists tides.io/v1beta1")
	})
}

// A version that is gone is looked for also after the custom resource was changed
// again, was deleted twice, or was written as it is.
func TestGhostsOfEveryTimeAreLookedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		changes    func(*historyBuilder)
		has, ghost string
		late       int // changes that were not shown
	}{
		"changed and deleted": {func(t *historyBuilder) { t.serves("lamps", 200, "v1beta1").serves("lamps", 200) }, "", "v1", 2},
		"changed twice":       {func(t *historyBuilder) { t.serves("lamps", 200, "v1beta1").serves("lamps", 200, "v1alpha1") }, "v1alpha1", "v1", 2},
		"deleted twice":       {func(t *historyBuilder) { t.serves("lamps", 200).serves("lamps", 404) }, "", "v1", 1},
		"written again":       {func(t *historyBuilder) { t.serves("lamps", 200, "v1beta1").serves("lamps", 200, "v1beta1") }, "v1beta1", "v1", 1},
		"unknown in between":  {func(t *historyBuilder) { t.serves("lamps", 0, "v1beta1").serves("lamps", 200) }, "", "v1beta1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().serves("lamps", 201, "v1")
			tc.changes(told)
			told.pass(11 * time.Second)
			all := []string{lights + "/" + tc.ghost + ":lamps"}
			if tc.has != "" {
				all = append(all, lights+"/"+tc.has+":lamps")
			}
			told.polled("a", all...).looksAt("a", said{union: all, own: all})
			ghost := "a still has lamps in lights.io/" + tc.ghost
			told.blames(t, "AD-13", slices.Repeat([]string{ghost}, tc.late)...)
			told.blames(t, "AD-25", ghost)
		})
	}
	for name, resource := range map[string]string{"what is back": "lamps", "another one": "torches"} {
		t.Run(name+" is no ghost", func(t *testing.T) {
			told := lone().serves("lamps", 201, "v1").serves("lamps", 200)
			told.serves(resource, 201, "v1").pass(11*time.Second).polled("a", lights+"/v1:"+resource).blames(t, "AD-13")
		})
	}
	for name, c := range map[string]struct {
		then  func(*historyBuilder)
		alone bool // no other resource was defined
		want  []string
	}{
		"a group-version without anything is a ghost": {func(*historyBuilder) {}, true, []string{"a still lists lights.io/v1, in which nothing is defined"}},
		"its last resource has just gone":             {func(t *historyBuilder) { t.serves("torches", 200) }, false, nil},
		"its last resource went while the member was frozen": {func(t *historyBuilder) {
			t.froze("a", history.ProcessPaused).serves("torches", 200).pass(time.Minute).froze("a", history.ProcessResumed).ready("a", 200, 6)
		}, false, nil},
		"the group has something foreign": {func(t *historyBuilder) {
			t.foreign(history.ThirdPartyPresent, lights+"/v1", "True", time.Minute)
		}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().serves("lamps", 201, "v1")
			if !c.alone {
				told.serves("torches", 201, "v1")
			}
			told.polled("a", lights+"/v1:lamps,torches").serves("lamps", 200).pass(time.Second).polled("a").pass(10 * time.Second)
			c.then(told)
			told.polled("a", lights+"/v1:").pass(time.Second)
			told.blames(t, "AD-13", c.want...)
		})
	}
}

// What was never there is not seen to be gone, and keeps nothing else from being judged.
func TestNothingIsDeletedThatWasNeverThere(t *testing.T) {
	told := lone().serves("lamps", 404).serves("torches", 201, "v1").pass(11 * time.Second)
	r := told.polled("a").blames(t, "AD-13", "a does not have torches in lights.io/v1")
	saw(t, r, "deleted", 0)
}

// Where a custom resource and an aggregated server share a group, a version that
// neither has any more is a ghost, whenever it was there, unless another one has it.
func TestAD19LooksForGhostsOfEveryTime(t *testing.T) {
	shared := func() *historyBuilder { return lone().hands(201).servesIn(tides, "piers", 201, "v1alpha1", "v1beta1") }
	has := func(t *historyBuilder, alpha string) *historyBuilder {
		return t.polled("a", tides+"/v1:flows", tides+"/v1alpha1:"+alpha, tides+"/v1beta1:piers")
	}
	all := func(t *historyBuilder) *historyBuilder { return has(t, "piers") }
	t.Run("changed", func(t *testing.T) {
		all(shared().servesIn(tides, "piers", 200, "v1beta1").pass(11*time.Second)).
			blames(t, "AD-19", "a still lists tides.io/v1alpha1")
	})
	t.Run("changed and deleted", func(t *testing.T) {
		told := shared().servesIn(tides, "piers", 200, "v1beta1").servesIn(tides, "piers", 200).pass(11 * time.Second)
		told.polled("a", tides+"/v1:flows", tides+"/v1alpha1:piers").blames(t, "AD-19", slices.Repeat([]string{"a still lists tides.io/v1alpha1"}, 3)...)
	})
	t.Run("too soon", func(t *testing.T) {
		all(shared().servesIn(tides, "piers", 200, "v1beta1").pass(9*time.Second)).blames(t, "AD-19")
	})
	t.Run("another one has it", func(t *testing.T) {
		has(shared().servesIn(tides, "locks", 201, "v1alpha1").servesIn(tides, "piers", 200, "v1beta1").pass(11*time.Second), "locks").blames(t, "AD-19")
	})
	t.Run("another one had it just now", func(t *testing.T) {
		has(shared().servesIn(tides, "locks", 201, "v1alpha1").servesIn(tides, "piers", 200, "v1beta1").pass(11*time.Second).
			servesIn(tides, "locks", 200), "locks").blames(t, "AD-19")
	})
	t.Run("a custom resource is there in name alone", func(t *testing.T) {
		lacks := "a does not have piers in tides.io/v1beta1"
		told := shared().hands(200)
		told.events[len(told.events)-1].Request.Defines.Versions = nil
		told.pass(11*time.Second).listsAll("a", tides+"/v1alpha1:piers", tides+"/v1beta1:piers!").blames(t, "AD-19", lacks)
	})
}

// An APIService that is gone leaves nothing when all is quiet, also where it had its
// group for itself.
func TestAD25LooksForGhostsOfAggregatedServers(t *testing.T) {
	has := []string{tides + "/v1:flows"}
	gone := func() *historyBuilder {
		told := lone().hands(201)
		told.hands(200).events[len(told.events)-1].Request.Defines.Versions = nil
		return told.pass(11 * time.Second)
	}
	gone().looksAt("a", said{union: has, own: has}).blames(t, "AD-25", "a still lists tides.io/v1, which was handed on")
	gone().looksAt("a", said{}).blames(t, "AD-25")
	lone().hands(201).pass(11*time.Second).looksAt("a", said{union: has, own: has}).blames(t, "AD-25")
	gone().servesIn(tides, "piers", 201, "v1").pass(11*time.Second).looksAt("a", said{union: []string{tides + "/v1:piers"}, own: []string{tides + "/v1:piers"}}).blames(t, "AD-25")
}

// What went before a document listed it can leave no ghost, so that its deletion proves nothing.
func TestAD13_CountsADeletionOnlyOfWhatWasListed(t *testing.T) {
	lamps := lights + "/v1:lamps"
	const what = "custom resources deleted that were shown, of the member with the fewest"
	deleted := func(told *historyBuilder) int64 {
		for _, o := range told.serves("lamps", 200).pass(time.Second).polled("a").judge(t, "AD-13")[0].Observations {
			if o.What == what {
				return o.Seen
			}
		}
		t.Fatalf("the row does not count %s", what)
		return 0
	}
	if got := deleted(lone().pass(time.Minute).polled("a").serves("lamps", 201, "v1").pass(time.Second)); got != 0 {
		t.Errorf("never listed, and %d deletions count", got)
	}
	if got := deleted(lone().pass(time.Minute).serves("lamps", 201, "v1").pass(time.Second).polled("a", lamps).pass(time.Second)); got != 1 {
		t.Errorf("listed, and %d deletions count, want 1", got)
	}
}

// A document that never changed shows a custom resource again that went and came back: neither
// counts, while the promise is kept by that.
func TestAD13_CountsNoChangeThatNoDocumentShowed(t *testing.T) {
	story := func(listed ...string) *historyBuilder {
		lists := func(told *historyBuilder, words ...string) *historyBuilder {
			return told.pass(2*time.Second).polled("a", words...)
		}
		told := lists(lists(lone().pass(time.Minute)).serves("lamps", 201, "v1"), lights+"/v1:lamps")
		return lists(lists(told.serves("lamps", 200), listed...).serves("lamps", 201, "v1"), lights+"/v1:lamps")
	}
	for n, told := range []*historyBuilder{story(lights + "/v1:lamps"), story()} {
		r := told.blames(t, "AD-13")
		saw(t, r, "deleted that were shown, of", int64(n))
		saw(t, r, "created that were shown, of", int64(n+1))
	}
}

// A custom resource that gets other names, and no other versions, was changed.
func TestNamesOfACustomResourceHaveToFollow(t *testing.T) {
	named := func(within time.Duration) *historyBuilder {
		h := lone().serves("lamps", 201, "v1").pass(time.Second).polled("a", lights+"/v1:lamps").serves("lamps", 200, "v1")
		h.events[len(h.events)-1].Request.Defines.ShortNames = []string{"lp"}
		return h.pass(within).polled("a", lights+"/v1:lamps")
	}
	named(11*time.Second).blames(t, "AD-13", "a gives lamps in lights.io/v1 the short names [] in the place of [lp]")
	if r := named(9*time.Second).judge(t, "AD-13")[0]; len(r.Violations) > 0 {
		t.Errorf("names that may still come are blamed: %v", r.Violations)
	}
}
