package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

const lampsKey = "/registry/apiextensions.k8s.io/customresourcedefinitions/lamps." + lights

// deletes has the deletion of lamps be acknowledged at a revision; what etcd told of it may
// come before the answer.
func (t *historyBuilder) deletes(revision int64, told func(*historyBuilder)) *historyBuilder {
	told(t)
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "delete", Resource: "customresourcedefinitions", Code: 200, ResourceVersion: revision,
		Defines: &history.Definition{Group: lights, Resource: "lamps"},
	}})
}

// lamps has etcd tell that their definition waits to be removed, or is.
func (t *historyBuilder) lamps(revision int64, kind string) *historyBuilder {
	return t.stored(history.Stored{Type: kind, Key: lampsKey, Revision: revision, Deleting: kind == history.StoredPut})
}

// A CustomResourceDefinition that waits for its finalizers is there, and may be listed for as
// long as it takes.
func TestADeletionIsOwedWhenTheObjectIsGone(t *testing.T) {
	waits := func(t *historyBuilder) { t.lamps(20, history.StoredPut) }
	told := func(*historyBuilder) {}
	lists := func(t *historyBuilder) *historyBuilder { return t.polled("a", lights+"/v1:lamps") }
	begun := func() *historyBuilder { return lists(lone().serves("lamps", 201, "v1")) }

	for name, deleted := range map[string]*historyBuilder{
		"etcd tells before the answer": begun().deletes(20, waits),
		"etcd tells after the answer":  begun().deletes(20, told).lamps(20, history.StoredPut),
	} {
		t.Run(name, func(t *testing.T) {
			waited := lists(lists(deleted).pass(time.Minute))
			gone := waited.lamps(30, history.StoredDelete)
			shown := gone.pass(5 * time.Second).polled("a").pass(time.Minute).polled("a")
			if r := shown.blames(t, "AD-13"); r.Obligations.Late+r.Obligations.Broken+r.Obligations.Unclear > 0 {
				t.Errorf("it is shown: %+v", r.Obligations)
			}
			saw(t, shown.judge(t, "AD-13")[0], "custom resources deleted", 1)
		})
	}
	t.Run("it stays when it is gone", func(t *testing.T) {
		b := lists(begun().deletes(20, waits).pass(time.Minute)).lamps(30, history.StoredDelete)
		lists(lists(b.pass(5*time.Second)).pass(10*time.Second)).blames(t, "AD-13", "a still has lamps")
	})
	t.Run("it never goes", func(t *testing.T) {
		b := lists(lists(begun().deletes(20, waits)).pass(time.Minute))
		if r := b.blames(t, "AD-13"); r.Verdict != law.Inconclusive {
			t.Errorf("%s: %q", r.Verdict, r.Reasons)
		}
	})
	t.Run("it is gone at once", func(t *testing.T) {
		b := begun().deletes(20, func(t *historyBuilder) { t.lamps(20, history.StoredPut).lamps(21, history.StoredDelete) })
		lists(b.pass(11*time.Second)).blames(t, "AD-13", "a still has lamps")
	})
	t.Run("it is changed while it waits", func(t *testing.T) {
		b := lists(begun().deletes(20, waits).pass(time.Minute)).serves("lamps", 200, "v1", "v1beta1").lamps(30, history.StoredDelete)
		b.pass(time.Second).polled("a").pass(time.Minute).polled("a").blames(t, "AD-13")
	})
	t.Run("it was changed while it waited, and stays", func(t *testing.T) {
		b := begun().deletes(20, waits).pass(time.Minute).serves("lamps", 200, "v1", "v1beta1").lamps(30, history.StoredDelete)
		b.pass(11*time.Second).polled("a", lights+"/v1beta1:lamps").blames(t, "AD-13", "a still has lamps in "+lights+"/v1beta1")
	})
	t.Run("it is defined again", func(t *testing.T) {
		b := begun().deletes(20, waits).pass(time.Minute).lamps(30, history.StoredDelete).pass(time.Second).serves("lamps", 201, "v1beta1")
		lists(b.pass(11*time.Second)).blames(t, "AD-13", "a does not have lamps in "+lights+"/v1beta1", "a does not have lamps in "+lights+"/v1beta1")
	})
}
