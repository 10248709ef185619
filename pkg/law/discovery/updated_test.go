package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// What an aggregated server hosts changes with its release. API servers learn of that when they ask
// it next, and from then on their documents have it.
func TestUpdate_OfAnAggregatedServerIsLearnedWithinTheIntervalOfFetches(t *testing.T) {
	before, after := []string{tides + "/v1:flows", steady}, []string{tides + "/v1:flows,ebbs", steady}
	updated := func(ago time.Duration) *historyBuilder {
		told := lone().hands(201).pass(5*time.Minute).looksAt("a", said{union: before, own: before}).pass(time.Minute)
		told.add(history.Event{Kind: history.KindBackendUpdate, BackendUpdate: &history.BackendUpdate{Group: tides, Resources: []string{"flows", "ebbs"}}})
		return told.pass(ago)
	}
	within := requirement.MustBound("AD-18", "recoversWithin")
	for _, id := range []requirement.ID{"AD-10", "AD-25"} {
		updated(within-time.Second).looksAt("a", said{union: before, own: after}).blames(t, id)
		updated(within+time.Second).looksAt("a", said{union: after, own: after}).blames(t, id)
	}
	updated(within+time.Second).looksAt("a", said{union: before, own: after}).blames(t, "AD-10", "a tells of tides.io/v1")
	updated(within+2*time.Second).looksAt("a", said{union: before, own: after}).blames(t, "AD-25", "tides.io/v1")
}

// Which of the two a member knew last is not certain where the server is lost right after that.
func TestAD17_WhatWasKnownIsNotCertainRightAfterAnUpdate(t *testing.T) {
	lost := func(after time.Duration) *historyBuilder {
		told := lone().hands(201).pass(5*time.Minute).listsAll("a", tides+"/v1:flows", steady)
		told.add(history.Event{Kind: history.KindBackendUpdate, BackendUpdate: &history.BackendUpdate{Group: tides, Resources: []string{"flows", "ebbs"}}})
		told.pass(after).listsAll("a", tides+"/v1:flows", steady).does(1, history.BackendRefuse, history.PhaseInject, history.PhaseWitness)
		return told.pass(time.Second).listsAll("a", tides+"/v1:flows,ebbs!", steady).pass(time.Second)
	}
	within := requirement.MustBound("AD-18", "recoversWithin")
	lost(within-time.Second).blames(t, "AD-17")
	lost(within+time.Second).blames(t, "AD-17", "a has lost what it knew of its resources")
}
