package everyrun_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const versions = "storageversions"

// client is a client of a member that watches StorageVersions.
type client struct {
	*stories.Builder
	member string
}

func watching(b *stories.Builder) client { return client{b, b.Members[1].Name} }

func (c client) sees(what, name string, revision int64) {
	c.Emit(history.Event{Kind: history.KindWatch, Member: c.member, Watch: &history.Watch{Resource: versions, Type: what, Name: name, ResourceVersion: revision}})
}

// stores changes a StorageVersion in etcd.
func (c client) stores(name string) int64 {
	return c.Store("/registry/"+versions+"/"+name, "internal.apiserver.k8s.io/v1alpha1", "StorageVersion", name, history.Stored{})
}

func (c client) deletes(name string) int64 {
	c.Delete("/registry/"+versions+"/"+name, name)
	return c.Revision
}

// watchCase is what a client of a member sees, and how RO-06 judges that.
type watchCase struct {
	want check.Verdict
	do   func(c client)
}

func expectWatches(t *testing.T, cases map[string]watchCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-06", replaced("at rest", func(b *stories.Builder) { c.do(watching(b)) }), c.want)
		})
	}
}

// A client that keeps what a watch tells of knows only that: what it is not told, told twice, or
// told too late, it has wrong until the object changes again.
func TestWatches_LeaveNothingOut(t *testing.T) {
	expectWatches(t, map[string]watchCase{
		"each change is told of": {check.Pass, func(c client) {
			a, b := c.stores("core.a"), c.stores("core.b")
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", a)
			c.sees("ADDED", "core.b", b)
			c.sees("MODIFIED", "core.a", c.stores("core.a"))
			c.sees("DELETED", "core.a", c.deletes("core.a"))
			c.sees("ADDED", "core.a", c.stores("core.a"))
		}},
		"a change is left out, and the next one of the object is told of": {check.Fail, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", c.stores("core.a"))
			c.stores("core.a")
			c.sees("MODIFIED", "core.a", c.stores("core.a"))
		}},
		"a deletion is left out, and a change of another object is told of": {check.Fail, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", c.stores("core.a"))
			c.deletes("core.a")
			c.sees("ADDED", "core.b", c.stores("core.b"))
		}},
		"a change is left out beside a fault": {check.Fail, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			slow(c.Builder, c.Members[1], func() {
				c.stores("core.a")
				c.sees("MODIFIED", "core.a", c.stores("core.a"))
			})
		}},
		"what changed while no watch was open is listed": {check.Pass, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", c.stores("core.a"))
			c.sees(history.WatchBroken, "", 0)
			c.deletes("core.a")
			b := c.stores("core.b")
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.b", b)
		}},
		"the last change comes after all that the watch told of": {check.Pass, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", c.stores("core.a"))
			c.stores("core.a")
		}},
		"a change of another resource": {check.Pass, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			c.Store("/registry/clusterroles/core.a", "rbac.authorization.k8s.io/v1", "ClusterRole", "core.a", history.Stored{})
			c.sees("ADDED", "core.a", c.stores("core.a"))
		}},
		"a change is told of twice": {check.Fail, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			a := c.stores("core.a")
			c.sees("ADDED", "core.a", a)
			c.sees("MODIFIED", "core.a", a)
		}},
		"an older change is told of after a later one": {check.Fail, func(c client) {
			c.sees(history.WatchOpened, "", c.Revision)
			a, b := c.stores("core.a"), c.stores("core.b")
			c.sees("ADDED", "core.b", b)
			c.sees("ADDED", "core.a", a)
		}},
		"a change is told of that the list was made after": {check.Fail, func(c client) {
			a := c.stores("core.a")
			c.stores("core.b")
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", a)
			c.sees("ADDED", "core.b", c.Revision)
			c.sees("MODIFIED", "core.a", a)
		}},
	})
}

// A watch begins with what etcd held at a revision, which is no older than what the member had shown.
func TestWatches_BeginWithWhatEtcdHolds(t *testing.T) {
	expectWatches(t, map[string]watchCase{
		"an object is left out": {check.Fail, func(c client) {
			c.stores("core.a")
			c.sees(history.WatchOpened, "", c.Revision)
			c.stores("core.b")
		}},
		"an object is as it was before": {check.Fail, func(c client) {
			a := c.stores("core.a")
			c.stores("core.a")
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", a)
			c.stores("core.b")
		}},
		"an object is listed that was deleted": {check.Fail, func(c client) {
			a := c.stores("core.a")
			c.deletes("core.a")
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", a)
			c.stores("core.b")
		}},
		"it is older than what the member had shown": {check.Fail, func(c client) {
			before := c.Revision
			c.sees(history.WatchOpened, "", before)
			c.sees("ADDED", "core.a", c.stores("core.a"))
			c.sees(history.WatchBroken, "", 0)
			c.sees(history.WatchOpened, "", before)
		}},
		"it is older than what the member had shown, of which etcd did not tell": {check.Fail, func(c client) {
			before := c.Revision
			c.sees(history.WatchOpened, "", before)
			c.sees("ADDED", "core.a", c.NextRevision())
			c.sees(history.WatchBroken, "", 0)
			c.sees(history.WatchOpened, "", before)
		}},
		"it is older than what etcd had when it was asked for": {check.Fail, func(c client) {
			before := c.Revision
			c.stores("core.a")
			c.Advance(5000)
			c.sees(history.WatchBroken, "", 0)
			c.sees(history.WatchOpened, "", before)
		}},
		"it is older than what etcd has by the time that it is told of": {check.Pass, func(c client) {
			c.sees(history.WatchBroken, "", 0)
			before := c.Revision
			c.stores("core.a")
			c.sees(history.WatchOpened, "", before)
			c.sees("ADDED", "core.a", c.Revision)
		}},
		"it has no revision": {check.Inconclusive, func(c client) { c.sees(history.WatchOpened, "", 0) }},
		"etcd did not tell of all that there was by then": {check.Pass, func(c client) {
			c.stores("core.a")
			c.sees(history.WatchOpened, "", c.Revision+1)
		}},
	})
}

// A change that the recorder of etcd missed may be what a list leaves out, and what a watch does.
func TestWatches_WhatEtcdsRecorderMissed(t *testing.T) {
	for _, missed := range []bool{false, true} {
		events := replaced("at rest", func(b *stories.Builder) {
			c := watching(b)
			c.stores("core.a")
			if missed {
				c.Emit(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: history.SourceEtcd, Message: "away"}})
			}
			c.sees(history.WatchOpened, "", c.NextRevision())
			c.stores("core.b")
		})
		r := judgetest.Judge(t, &judgetest.Events{Head: story.NewHeader(), Lines: events}, "RO-06")
		if excused := r.Obligations.Excused; (r.Verdict == check.Fail) == missed || (excused > 0) != missed {
			t.Errorf("missed %t: %s with %+v", missed, r.Verdict, r.Obligations)
		}
	}
}

// Of a run that was killed the last list may not have been recorded to its end.
func TestWatches_TheEndOfAListMayNotBeRecorded(t *testing.T) {
	for _, more := range []bool{false, true} {
		events := replaced("at rest", func(b *stories.Builder) {
			c := watching(b)
			a := c.stores("core.a")
			c.stores("core.b")
			c.sees(history.WatchOpened, "", c.Revision)
			c.sees("ADDED", "core.a", a)
			a = c.stores("core.a")
			if more {
				c.sees("MODIFIED", "core.a", a)
			}
		})
		judgetest.Expect(t, "RO-06", events, check.Fail)
		r := judgetest.Judge(t, &judgetest.Events{Head: story.NewHeader(), Lines: events[:len(events)-1]}, "RO-06")
		if (r.Verdict == check.Fail) != more {
			t.Errorf("without its end, and what comes after the list is recorded: %t: %s, %v", more, r.Verdict, r.Violations)
		}
	}
}

// A later write of the same object hides from a client that waits for it that a watch left one out.
func TestVisible_AWatchThatLeavesAWriteOut(t *testing.T) {
	soon, bound := 20*time.Millisecond, requirement.MustBound("RO-06", "showsWithin")
	for name, c := range map[string]struct {
		want   check.Verdict
		change func(from int64, s *history.Shown)
	}{
		"it was open before":                   {check.Fail, func(_ int64, s *history.Shown) { s.ResourceVersion += 2 }},
		"it was opened after the write":        {check.Pass, func(from int64, s *history.Shown) { s.ResourceVersion, s.Sent = s.ResourceVersion+2, from+1 }},
		"it told of the write":                 {check.Pass, func(int64, *history.Shown) {}},
		"it was open before, and told it late": {check.Fail, func(_ int64, s *history.Shown) { s.ResourceVersion, s.At = s.ResourceVersion+2, s.At+int64(bound) }},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-06", replaced("at rest", func(b *stories.Builder) {
				b.Write(b.Members[0], "configmaps")
				b.Show(b.Members[1], b.Members[0], soon)
				v := &b.Events[len(b.Events)-1]
				c.change(v.From, &v.Visibility.Watch)
				v.At = max(v.At, v.Visibility.Watch.At)
				b.Now = max(b.Now, v.At+1)
			}), c.want)
		})
	}
}
