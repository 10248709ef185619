package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	deletedName = "default/t0-cp1"
	deletedKey  = "/registry/configmaps/" + deletedName
)

// deletes has the first member answer a request to delete a ConfigMap; meanwhile is what happens
// before the answer, and gives the revision that this names.
func deletes(b *stories.Builder, code int, meanwhile func() (named int64)) {
	from := b.Now
	b.Advance(2)
	named := meanwhile()
	b.Advance(2)
	b.Emit(history.Event{Kind: history.KindRequest, Member: "cp1", From: from, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "delete", Version: "v1", Resource: "configmaps", Name: deletedName, Code: code, ResourceVersion: named,
	}})
	// What etcd makes later than a write that is sent now, it makes after the answer.
	b.Advance(60_000)
	for range 2 {
		b.Write(b.Members[1], "configmaps")
	}
}

// A deletion is a write: what a member says is deleted does not go on to lie in etcd.
func TestDeleted_GoesFromEtcd(t *testing.T) {
	nothing := func() int64 { return 0 }
	put := func(b *stories.Builder, s history.Stored) int64 {
		return b.Store(deletedKey, "v1", "ConfigMap", deletedName, s)
	}
	gone := func(b *stories.Builder) int64 {
		b.Delete(deletedKey, deletedName)
		return 0
	}
	for name, c := range map[string]struct {
		want check.Verdict
		do   func(b *stories.Builder)
	}{
		"etcd deletes it": {check.Pass, func(b *stories.Builder) {
			deletes(b, 200, func() int64 { return gone(b) })
		}},
		"etcd has it on": {check.Fail, func(b *stories.Builder) { deletes(b, 200, nothing) }},
		"etcd has it on, changed": {check.Fail, func(b *stories.Builder) {
			deletes(b, 200, func() int64 { put(b, history.Stored{}); return 0 })
		}},
		"etcd has it on beside a fault": {check.Fail, func(b *stories.Builder) {
			slow(b, b.Members[0], func() { deletes(b, 200, nothing) })
		}},
		"etcd had deleted it before, and made it again": {check.Fail, func(b *stories.Builder) {
			b.Delete(deletedKey, deletedName)
			put(b, history.Stored{})
			b.Advance(5000)
			deletes(b, 200, nothing)
		}},
		"etcd deletes it after the answer": {check.Fail, func(b *stories.Builder) {
			deletes(b, 200, nothing)
			b.Delete(deletedKey, deletedName)
		}},
		"a finalizer holds it": {check.Pass, func(b *stories.Builder) {
			deletes(b, 202, func() int64 { put(b, history.Stored{Deleting: true}); return 0 })
		}},
		"a finalizer holds it, by the revision of the answer": {check.Pass, func(b *stories.Builder) {
			deletes(b, 202, func() int64 { return put(b, history.Stored{}) })
		}},
		"the answer names the revision of before": {check.Fail, func(b *stories.Builder) {
			before := put(b, history.Stored{})
			b.Advance(5000)
			deletes(b, 200, func() int64 { return before })
		}},
		"the recorder of etcd is late": {check.Pass, func(b *stories.Builder) {
			deletes(b, 200, nothing)
			b.Events = b.Events[:len(b.Events)-4] // the writes that follow
			b.Revision -= 4
			b.Advance(5000)
			gone(b)
		}},
		"a finalizer held it before": {check.Pass, func(b *stories.Builder) {
			put(b, history.Stored{Deleting: true})
			b.Advance(5000)
			deletes(b, 200, nothing)
		}},
		"it is made again at once": {check.Pass, func(b *stories.Builder) {
			deletes(b, 200, func() int64 { gone(b); put(b, history.Stored{}); return 0 })
		}},
		"the bytes in etcd cannot be read": {check.Pass, func(b *stories.Builder) {
			b.Store(deletedKey, "", "", deletedName, history.Stored{})
			b.Advance(5000)
			deletes(b, 200, nothing)
		}},
		"the deletion was refused": {check.Pass, func(b *stories.Builder) { deletes(b, 409, nothing) }},
		"there was no answer":      {check.Pass, func(b *stories.Builder) { deletes(b, 0, nothing) }},
	} {
		t.Run(name, func(t *testing.T) { judgetest.Expect(t, "RO-08", replaced("at rest", c.do), c.want) })
	}
}

// What etcd has not told of by the end may have been deleted.
func TestDeleted_AtTheEnd(t *testing.T) {
	events := replaced("at rest", func(b *stories.Builder) {
		b.Emit(history.Event{Kind: history.KindRequest, Member: "cp1", From: b.Now - 5, Request: &history.Request{
			Class: history.ClassGuarded, Verb: "delete", Version: "v1", Resource: "configmaps", Name: deletedName, Code: 200,
		}})
	})
	if r := judgetest.Judge(t, &judgetest.Events{Head: story.NewHeader(), Lines: events}, "RO-08"); r.Verdict != check.Inconclusive || r.Obligations.Open != 1 {
		t.Errorf("%s with %+v, want one that is open: %v", r.Verdict, r.Obligations, r.Reasons)
	}
}
