package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// stops ends a process on purpose.
func (t *tale) stops(member string, instance int) *tale {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: instance, Expected: true}})
}

// idle lets time pass and tells of something that nobody asks for.
func (t *tale) idle(d time.Duration) *tale { return t.pass(d).ready("a", 200, 0) }

// away has the recorder of etcd say that it heard nothing for so long.
func (t *tale) away(d time.Duration) *tale {
	return t.add(history.Event{Kind: history.KindAway, From: t.now - int64(d), Away: &history.Away{Source: string(SourceEtcd)}})
}

// wrongly calls a version agreed, whatever the entries say.
func wrongly(sv *history.StorageVersion, version string) *history.StorageVersion {
	sv.Common = &version
	sv.Conditions[0].Status = "True"
	return sv
}

// leads has the controller manager of a member hold the Lease of the leader.
func (t *tale) leads(member string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: revision, Lease: &history.Lease{Holder: member + "_1"}})
}

// manager is a change in the life of a member's controller manager.
func (t *tale) manager(member, change string) *tale {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: change, Instance: 1}})
}

// holds back, or no longer, what the controller manager of a member writes.
func (t *tale) delays(phase history.Phase) *tale {
	return t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
		ID: "f-1", Type: history.FaultHTTP, Action: history.FaultHTTPDelay, Component: history.ComponentControllerManager, Phase: phase, Proof: "p"}})
}

// verdictOf complains unless the tale gets the verdict.
func (t *tale) verdictOf(test *testing.T, id requirement.ID, want Verdict) {
	test.Helper()
	if r := t.judge(test, id)[0]; r.Verdict != want {
		test.Errorf("%s is %s, want %s: %v %q", id, r.Verdict, want, r.Violations, r.Reasons)
	}
}

// lone is a control plane of one member that is ready.
func lone() *tale {
	t := tell()
	t.header.Members = t.header.Members[:1]
	return t.starts("a", 1).ready("a", 200, 5)
}
