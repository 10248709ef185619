package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const tides = "tides.io"

// hands has the harness put the APIService of tides there; the code is 0 where no
// answer came.
func (t *tale) hands(code int) *tale {
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "update", Resource: "apiservices", Code: code, Defines: &history.Definition{Remote: true, Group: tides, Versions: []string{"v1"}},
	}})
}

func (t *tale) backend(phase history.Phase, proof string) *tale {
	return t.add(history.Event{Kind: history.KindFault, Fault: &history.Fault{
		ID: "backend-1", Type: history.FaultBackend, Action: history.BackendHang, Group: tides, Phase: phase, Proof: proof,
	}})
}

// listsTides is a document of a's in which tides has a resource.
func (t *tale) listsTides(freshness string) *tale {
	listing := &history.Listing{Groups: []history.ListedGroup{{Name: tides, Versions: []history.ListedVersion{
		{Version: "v1", Freshness: freshness, Inventory: "known", Resources: []history.ListedResource{{Name: "flows"}}},
	}}}}
	return t.add(history.Event{Kind: history.KindDocument, Member: "a", From: t.now, Document: &history.Document{
		Path: groupsPath, Accept: askedJSON, Code: 200, Content: freshness, Listing: listing,
	}})
}

// What is put there again while its server is dead was reached before, also where
// the first attempt had no answer.
func TestAD14KnowsWhoWasReachedBefore(t *testing.T) {
	again := func(told *tale, codes ...int) *tale {
		told.backend(history.PhaseInject, "")
		for _, code := range codes {
			told.hands(code)
		}
		return told.backend(history.PhaseWitness, "asked").pass(time.Minute).listsTides(history.FreshnessStale)
	}
	up := func() *tale { return tell().starts("a", 1).ready("a", 200, 5) }
	for _, codes := range [][]int{{200}, {0, 200}, {200, 0, 200}, {0, 0, 200}} {
		again(up().hands(200).pass(time.Minute).listsTides(history.FreshnessCurrent), codes...).blames(t, "AD-14")
		again(up(), codes...).blames(t, "AD-14", "a never reached the server of tides.io/v1, and lists resources in it")
	}
}

// Who goes from one way not to answer to another one was never reached either.
func TestAD14KnowsWhoWasNeverReachedWhateverItDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		first string
		rest  time.Duration
		want  []string
	}{
		"at once":                        {history.BackendHang, 0, []string{`a never reached the server of tides.io/v1, and calls it "Current"`}},
		"after a while":                  {history.BackendHang, time.Second, nil},
		"after something like an answer": {history.BackendGarbage, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().does(1, tc.first, history.PhaseInject).hands(201).does(1, tc.first, history.PhaseWitness)
			told.does(1, tc.first, history.PhaseHeal).pass(tc.rest).does(2, history.BackendRefuse, history.PhaseInject, history.PhaseWitness)
			told.pass(time.Minute).listsTides(history.FreshnessCurrent).blames(t, "AD-14", tc.want...)
		})
	}
}
