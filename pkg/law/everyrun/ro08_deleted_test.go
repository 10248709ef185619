package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
)

const (
	deletedName = "default/t0-cp1"
	deletedKey  = "/registry/configmaps/" + deletedName
)

// deletes has the first member answer a request to delete a ConfigMap; meanwhile is what happens
// before the answer.
func deletes(b *stories.Builder, code int, meanwhile func()) {
	from := b.Now
	b.Advance(2)
	meanwhile()
	b.Advance(2)
	b.Emit(history.Event{Kind: history.KindRequest, Member: "cp1", From: from, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "delete", Version: "v1", Resource: "configmaps", Name: deletedName, Code: code,
	}})
	b.Advance(60_000)
	b.Write(b.Members[1], "configmaps")
}

// A deletion is a write: what a member says is deleted does not go on to lie in etcd.
func TestDeleted_GoesFromEtcd(t *testing.T) {
	nothing := func() {}
	put := func(b *stories.Builder, s history.Stored) {
		b.Store(deletedKey, "v1", "ConfigMap", deletedName, s)
	}
	for name, c := range map[string]struct {
		want check.Verdict
		do   func(b *stories.Builder)
	}{
		"etcd deletes it": {check.Pass, func(b *stories.Builder) {
			deletes(b, 200, func() { b.Delete(deletedKey, deletedName) })
		}},
		"etcd has it on": {check.Fail, func(b *stories.Builder) { deletes(b, 200, nothing) }},
		"etcd has it on, changed by the harness": {check.Fail, func(b *stories.Builder) {
			deletes(b, 200, func() { put(b, history.Stored{Writer: "cp2", Write: 900}) })
		}},
		"it is changed, and nothing says whether a finalizer holds it": {check.Pass, func(b *stories.Builder) {
			deletes(b, 200, func() { put(b, history.Stored{}) })
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
			deletes(b, 202, func() { put(b, history.Stored{Deleting: true}) })
		}},
		"a finalizer held it before": {check.Pass, func(b *stories.Builder) {
			put(b, history.Stored{Deleting: true})
			b.Advance(5000)
			deletes(b, 200, nothing)
		}},
		"it is made again at once": {check.Pass, func(b *stories.Builder) {
			deletes(b, 200, func() { b.Delete(deletedKey, deletedName); put(b, history.Stored{}) })
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
	judgetest.Expect(t, "RO-08", replaced("at rest", func(b *stories.Builder) {
		b.Emit(history.Event{Kind: history.KindRequest, Member: "cp1", From: b.Now - 5, Request: &history.Request{
			Class: history.ClassGuarded, Verb: "delete", Version: "v1", Resource: "configmaps", Name: deletedName, Code: 200,
		}})
	}), check.Inconclusive)
}
