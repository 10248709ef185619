package everyrun_test

import (
	"net/http"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
)

// The pages of a list hold together what etcd does at one revision, whichever member answers them
// (API concepts, "Retrieving large results sets in chunks").
func TestPages_HoldWhatEtcdDoesAtOneRevision(t *testing.T) {
	for name, c := range map[string]struct {
		reads, shows check.Verdict
		change       func(r *history.Read)
	}{
		"the rest of the objects":           {check.Pass, check.Pass, func(*history.Read) {}},
		"one of them is left out":           {check.Fail, check.Pass, func(r *history.Read) { r.Items, r.Missing = 2, 1 }},
		"at an older revision":              {check.Pass, check.Fail, func(r *history.Read) { r.ResourceVersion-- }},
		"at a newer revision":               {check.Pass, check.Fail, func(r *history.Read) { r.ResourceVersion++ }},
		"refused, and etcd has it":          {check.Fail, check.Pass, func(r *history.Read) { *r = refusedPage(*r, "") }},
		"refused, and etcd has it no more":  {check.Pass, check.Pass, func(r *history.Read) { *r = refusedPage(*r, "it has been compacted") }},
		"another list is refused like that": {check.Fail, check.Pass, func(r *history.Read) { *r = refusedPage(*r, "it has been compacted"); r.How = history.ReadLimited }},
	} {
		t.Run(name, func(t *testing.T) {
			events := replaced("at rest", func(b *stories.Builder) {
				from, r := b.Now, history.Read{How: history.ReadContinued, Version: "v1", Resource: "configmaps", Limit: 50, Before: 50, By: "cp2",
					Code: http.StatusOK, Items: 3, After: b.Revision - 1, ResourceVersion: b.Revision - 1, Compared: true, Stored: 3}
				c.change(&r)
				b.Advance(5)
				b.Emit(history.Event{Kind: history.KindRead, Member: "cp1", From: from, Read: &r})
			})
			judgetest.Expect(t, "RO-01", events, c.reads)
			judgetest.Expect(t, "RO-06", events, c.shows)
		})
	}
}

func refusedPage(r history.Read, why string) history.Read {
	r.Code, r.Reason, r.Items, r.ResourceVersion, r.Compared, r.Stored, r.NotCompared = http.StatusGone, "Expired", 0, 0, false, 0, why
	return r
}
