package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// hosting has all members say what they host, and that a controller is able to migrate.
func hosting(resources ...history.HostedResource) *historyBuilder {
	b := newHistory()
	b.header.Writes = nil
	for _, member := range b.header.Members {
		b.starts(member.Name, 1).ready(member.Name, 200, 0)
	}
	return b.manager("a", history.ProcessStarted).leads("a", 2).host(3, resources...).after(20 * time.Second)
}

func (b *historyBuilder) host(revision int64, resources ...history.HostedResource) *historyBuilder {
	for _, member := range b.header.Members {
		b.hosting(member.Name, revision, resources...)
	}
	return b
}

// That a resource comes to be hosted later does not make up for a migration of it that had not failed
// in time; and what was hosted before has the bound since it went.
func TestSVM18_TheClockRunsWhileNoServerHostsTheResource(t *testing.T) {
	within, thing := mustBound("SVM-18", "failsWithin"), history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Served: []string{v1}}
	defined := func(unknown time.Duration) *historyBuilder {
		b := hosting().migrates("m", 10, 10, 0).after(unknown).defines("v1", 1, 11, "v1").host(11, thing).after(time.Second)
		return b.migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 13, 11, nowSucceeded)
	}
	defined(within-time.Second).finds(t, "SVM-18")
	defined(within+time.Second).finds(t, "SVM-18", "which no server hosts, has not failed for 3m1s")
	dropped := func(unknown time.Duration) *historyBuilder {
		b := hosting(thing).migrates("m", 10, 10, 0).migrates("m", 10, 11, 10, nowRuns).after(time.Hour).host(11, thing).after(time.Second).host(11)
		return b.after(unknown).migrates("m", 10, 12, 11, nowFailed)
	}
	dropped(within-time.Minute).finds(t, "SVM-18")
	dropped(within+time.Minute).finds(t, "SVM-18", "which no server hosts, took 4m0s to fail")
}

// A server that never said what it hosts may host anything; and one that ceased to host a resource may
// have done so since it was asked before.
func TestSVM18_WhatAServerDidNotSayIsNotCertain(t *testing.T) {
	within, thing := mustBound("SVM-18", "failsWithin"), history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Served: []string{v1}}
	silent := func(members int) *historyBuilder {
		b := newHistory().manages("a", 2)
		b.header.Writes = nil
		for _, member := range b.header.Members[:members] {
			b.hosting(member.Name, 3)
		}
		return b.after(20*time.Second).migrates("m", 10, 10, 0).after(within + time.Minute)
	}
	silent(2).finds(t, "SVM-18")
	silent(3).finds(t, "SVM-18", "which no server hosts, has not failed for")
	for asked, unclear := range map[time.Duration]int64{within: 1, time.Second: 0} {
		b := hosting(thing).migrates("m", 10, 10, 0).migrates("m", 10, 11, 10, nowRuns).host(11, thing).after(asked).host(11).after(within - time.Minute)
		if r := b.migrates("m", 10, 12, 11, nowFailed).finds(t, "SVM-18"); r.Obligations.Unclear != unclear {
			t.Errorf("asked %s before: %+v", asked, r.Obligations)
		}
	}
}

// That a resource goes does not make up for a migration of it that had been stuck.
func TestSVM19And29_TheResourceGoesUnderAMigrationThatWasStuck(t *testing.T) {
	removed := func(of string, stuck time.Duration) *historyBuilder {
		b := hosting().defines("v1", 1, 5, "v1").defines("v2", 2, 6, "v1", "v2").stores("x", v1, "m", 7, 7, 1)
		if of == "SVM-29" {
			b.migrates("o", 8, 8, 0).of(Resource{"other.io", "others"}).migrates("o", 8, 9, 8, nowRuns).of(Resource{"other.io", "others"}).after(mustBound("SVM-29", "progressShows"))
		}
		return b.migrates("m", 10, 10, 0).after(stuck).loses("x", 11).undefines(12).after(time.Minute).migrates("m", 10, 13, 0, nowFailed)
	}
	open, begins := mustBound("SVM-19", "open"), mustBound("SVM-29", "beginsWithin")
	removed("SVM-19", open+time.Minute).finds(t, "SVM-19", "migration m has not")
	removed("SVM-19", open-time.Second).finds(t, "SVM-19")
	removed("SVM-29", begins+time.Minute).finds(t, "SVM-29", "migration m of things.g.io had not begun")
	removed("SVM-29", begins-time.Second).finds(t, "SVM-29")
}
