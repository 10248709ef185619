package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const lights = "lights.io"

// serves has the harness define a custom resource of lights.io with the versions;
// without any it is deleted.
func (t *tale) serves(resource string, code int, versions ...string) *tale {
	return t.servesIn(lights, resource, code, versions...)
}

func (t *tale) servesIn(group, resource string, code int, versions ...string) *tale {
	verb := "update"
	if len(versions) == 0 {
		verb = "delete"
	}
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: verb, Resource: "customresourcedefinitions", Code: code,
		Defines: &history.Definition{Group: group, Resource: resource, Versions: versions},
	}})
}

// lone is a control plane of one member that is ready.
func lone() *tale {
	t := tell()
	t.header.Members = t.header.Members[:1]
	return t.starts("a", 1).ready("a", 200, 5)
}

// hidden has something be seen while a change is under way that may explain it, and
// again when nothing does.
func (t *tale) hidden(change, see func(*tale)) *tale {
	from := t.now
	see(t)
	change(t)
	t.events[len(t.events)-1].From = from
	t.pass(12 * time.Second)
	see(t)
	return t.pass(6 * time.Second)
}

// A breach that a change may explain once is a breach all the same where it lasts.
func TestABreachIsComplainedOfWhenNothingExplainsItAnyMore(t *testing.T) {
	again := func(t *tale) { t.hands(200) }
	current, stale := history.FreshnessCurrent, history.FreshnessStale
	lists := func(freshness string) func(*tale) { return func(t *tale) { t.listsTides(freshness) } }
	lacks := func(t *tale) { t.polled("a", "other.io/v1:others") }
	t.Run("AD-13", func(t *testing.T) {
		lone().serves("lamps", 201, "v1").serves("lamps", 200).pass(11*time.Second).
			hidden(func(t *tale) { t.serves("torches", 201, "v1") }, func(t *tale) { t.polled("a", lights+"/v1:lamps,torches") }).
			blames(t, "AD-13", "a still has lamps")
	})
	t.Run("AD-14", func(t *testing.T) {
		lone().backend(history.PhaseInject, "").hands(201).backend(history.PhaseWitness, "asked").
			hidden(again, lists(current)).blames(t, "AD-14", `a never reached the server of tides.io/v1, and calls it "Current"`)
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
			hidden(again, func(t *tale) { t.polled("a", tides+"/v1:flows", tides+"/v1beta1:piers") }).blames(t, "AD-19", "a still lists tides.io/v1beta1")
	})
}
