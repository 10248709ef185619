package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// proxies has the harness create or delete the APIService of things.
func (b *historyBuilder) proxies(verb string) *historyBuilder {
	from := b.now
	b.now += 2 * int64(time.Millisecond)
	return b.add(history.Event{Kind: history.KindRequest, Member: "a", From: from, Request: &history.Request{
		Class: history.ClassGuarded, Verb: verb, Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Name: "v1." + group, Code: 200,
		Defines: &history.Definition{Remote: true, Group: group},
	}})
}

// things are those of an aggregated server, which members say.
func proxied() *historyBuilder {
	thing := history.HostedResource{Group: group, Resource: "things", Kind: "Thing", Served: []string{v1, v2}, Aggregated: true}
	b := upgraded().proxies("create").hosting("a", 8, thing).hosting("b", 8, thing)
	return b.manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
}

func TestSVM32WantsMigrationsToOutliveAnAPIService(t *testing.T) {
	const failed = "migration m failed"
	proxied().migrates("m", 10, 14, 11, nowFailed).finds(t, "SVM-32", failed)
	proxied().proxies("delete").after(time.Second).migrates("m", 10, 14, 11, nowFailed).finds(t, "SVM-32", failed)
	proxied().proxies("delete").after(time.Minute).proxies("create").migrates("m", 10, 14, 11, nowFailed).finds(t, "SVM-32", failed)

	counted(t, proxied().stores("x", v2, "m", 5, 13, 0).migrates("m", 10, 14, 11, nowSucceeded).finds(t, "SVM-32"), "that successful migrations rewrote", 1)
	again := proxied().proxies("delete").after(time.Minute).proxies("create").stores("x", v2, "m", 5, 13, 0).migrates("m", 10, 14, 11, nowSucceeded)
	counted(t, again.finds(t, "SVM-32"), "that no API server proxied for a while", 1)
	// The APIService is back only after the success.
	late := proxied().stores("x", v2, "m", 5, 13, 0).proxies("delete").migrates("m", 10, 14, 11, nowSucceeded).proxies("create")
	counted(t, late.finds(t, "SVM-32"), "that no API server proxied for a while", 0)
	// A resource that an API server hosts itself is none of aggregated servers.
	upgraded().hosts("a", 8).manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		migrates("m", 10, 14, 11, nowFailed).finds(t, "SVM-32")
}

func TestSVM32LetsAMigrationFailWhoseResourceIsGone(t *testing.T) {
	gone := mustBound("SVM-32", "gone")
	for _, tc := range []struct {
		took  time.Duration
		found bool
	}{{gone - time.Second, true}, {gone + time.Second, false}} {
		r := proxied().proxies("delete").after(tc.took).migrates("m", 10, 14, 11, nowFailed).judge(t, "SVM-32")[0]
		if (r.Verdict == law.Fail) != tc.found || r.Verdict == law.Pass {
			t.Errorf("it fails %v after API servers had ceased to proxy its resource: %s", tc.took, r.Verdict)
		}
	}
}

// The clock of a migration stands while its resource is not proxied.
func TestClock_StandsWhileTheResourceIsNotProxied(t *testing.T) {
	open := mustBound("SVM-19", "open")
	if late, _ := endings(proxied().waits(open+time.Minute).judge(t, "SVM-19")[0]); !late {
		t.Error("a migration that stays open is not found")
	}
	if late, _ := endings(proxied().proxies("delete").waits(open+time.Minute).judge(t, "SVM-19")[0]); late {
		t.Error("a migration is to go on whose resource is not proxied")
	}
}
