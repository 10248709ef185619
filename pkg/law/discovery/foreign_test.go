package discovery

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// observed are the facts of a history of one member, a, whose events come one a second from
// the hundredth second on, after the member was ready.
func observed(events ...history.Event) *Facts {
	h := fact.NewHistory(history.Header{Members: []history.MemberHeader{{Name: "a", ServerID: "ida"}}})
	f := begin(h)
	all := append([]history.Event{
		{Member: "a", Process: &history.Process{Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 1}},
		{Member: "a", Ready: &history.Ready{Code: 200}},
	}, events...)
	for i := range all {
		ev := &all[i]
		ev.Seq, ev.At = int64(i+1), int64(98+i)*int64(time.Second)
		if ev.From == 0 {
			ev.From = ev.At
		}
		h.Observe(ev)
		f.Observe(ev)
	}
	return f
}

func TestIsForeign_TellsSinceWhenAGroupVersionIs(t *testing.T) {
	service := func(change string, from int64) history.Event {
		return history.Event{From: from * int64(time.Second), ThirdPartyObject: &history.ThirdPartyObject{
			Type: history.ThirdPartyAPIService, Name: "v1.weather.io", Change: change, Group: "weather.io", Version: "v1", Available: "True"}}
	}
	frozen := func(change string) history.Event {
		return history.Event{Member: "a", Process: &history.Process{Component: history.ComponentAPIServer, Change: change, Instance: 1}}
	}
	defined := history.Event{Request: &history.Request{Code: 201, Defines: &history.Definition{Remote: true, Group: "weather.io", Versions: []string{"v1"}}}}
	crd := history.Event{ThirdPartyObject: &history.ThirdPartyObject{Type: history.ThirdPartyCRD, Name: "rains.weather.io", Change: history.ThirdPartyAppeared, Group: "weather.io", Resource: "rains"}}
	lease := history.Event{ThirdPartyObject: &history.ThirdPartyObject{Type: history.ThirdPartyLease, Name: "ns/x", Change: history.ThirdPartyAppeared}}
	idle := history.Event{Step: &history.Step{}}
	for name, tc := range map[string]struct {
		events         []history.Event
		at             int64
		group, version string
		want           bool
	}{
		"before it may have been there":    {[]history.Event{service(history.ThirdPartyAppeared, 95)}, 94, "weather.io", "v1", false},
		"when it may have been there":      {[]history.Event{service(history.ThirdPartyAppeared, 95)}, 96, "weather.io", "v1", true},
		"another version":                  {[]history.Event{service(history.ThirdPartyPresent, 0)}, 101, "weather.io", "v2", false},
		"another group":                    {[]history.Event{service(history.ThirdPartyPresent, 0)}, 101, "apps.io", "v1", false},
		"just gone":                        {[]history.Event{service(history.ThirdPartyPresent, 0), service(history.ThirdPartyDeleted, 100)}, 110, "weather.io", "v1", true},
		"long gone":                        {[]history.Event{service(history.ThirdPartyPresent, 0), service(history.ThirdPartyDeleted, 100)}, 112, "weather.io", "v1", false},
		"gone while the member was frozen": {[]history.Event{service(history.ThirdPartyPresent, 0), frozen(history.ProcessPaused), service(history.ThirdPartyDeleted, 101), idle, idle, idle, idle, frozen(history.ProcessResumed)}, 116, "weather.io", "v1", true},
		"any version of a custom resource": {[]history.Event{crd}, 101, "weather.io", "v7", true},
		"defined by the harness":           {[]history.Event{service(history.ThirdPartyAppeared, 99), defined}, 101, "weather.io", "v1", false},
		"a Lease":                          {[]history.Event{lease}, 101, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observed(tc.events...).member("a").isForeign(groupVersion{tc.group, tc.version}, tc.at*int64(time.Second)); got != tc.want {
				t.Errorf("foreign: %v", got)
			}
		})
	}
}
