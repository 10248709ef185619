package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// answers has a fault begin, or cease, to do something to the requests that sends tells of.
func (t *historyBuilder) answers(action string, phase history.Phase) *historyBuilder {
	return t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
		ID: "f", Type: history.FaultHTTP, Action: action, Component: history.ComponentControllerManager, Phase: phase}})
}

// A migration whose write a fault has refused is right to fail, whatever else happened to it.
func TestRefused_AMigrationMayFail(t *testing.T) {
	happens := map[requirement.ID]func(*historyBuilder) *historyBuilder{
		"SVM-10": func(b *historyBuilder) *historyBuilder { return b.errs("x", 503) },
		"SVM-11": func(b *historyBuilder) *historyBuilder { return b.manager("a", history.ProcessExited).manages("b", 13) },
		"SVM-16": func(b *historyBuilder) *historyBuilder { return b },
	}
	for id, what := range happens {
		begun := func(action string) *historyBuilder {
			b := upgraded().stores("y", v1, "m", 6, 6, 2).manages("a", 8).waits(20*time.Second).answers(action, history.PhaseInject)
			return what(b.migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)).waits(20 * time.Second)
		}
		failed := func(b *historyBuilder) *historyBuilder { return b.migrates("m", 10, 20, 11, nowFailed) }
		const replaces = history.FaultHTTPReplace
		for _, code := range refusals {
			failed(begun(replaces).errs("x", code)).finds(t, id)
		}
		const message = "migration m failed (R: 20)"
		// What an API server refuses of its own accord, what passes and what is done is no reason.
		failed(begun(history.FaultHTTPDelay).errs("x", 403)).finds(t, id, message)
		failed(begun(replaces).errs("x", 429)).finds(t, id, message)
		failed(begun(replaces).errs("x", 404)).finds(t, id, message)
		failed(begun(replaces).errs("x", 409)).finds(t, id, message)
		// Neither is what was refused of another resource, or afterwards.
		failed(begun(replaces).sends("PUT", "/apis/g.io/v1/others/x", 403)).finds(t, id, message)
		failed(begun(replaces)).waits(time.Second).errs("x", 403).finds(t, id, message)
		// It has to end all the same.
		stays := func() *historyBuilder {
			return begun(replaces).errs("x", 403).answers(replaces, history.PhaseHeal).waits(6 * time.Minute)
		}
		stays().finds(t, id, "has not ended")
		failed(stays()).finds(t, id, "has not ended")
	}
}

// A migration that failed leaves storedVersions as they are (kubernetes/kubernetes#135297 trimmed
// them whatever came of it), and one that succeeds has rewritten what was refused.
func TestRefused_NothingElseChanges(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).stores("y", v1, "m", 6, 6, 2).defines("v2", 2, 7, "v1", "v2").manages("a", 8).
			answers(history.FaultHTTPReplace, history.PhaseInject).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).errs("x", 403)
	}
	begun().migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-23")
	begun().migrates("m", 10, 20, 11, nowFailed).defines("v2", 2, 21, "v2").finds(t, "SVM-23",
		"things y is stored as v1 since revision 6, and storedVersions of its definition is [v2]", "lost [v1] at revision 21, and migration m did not succeed")
	begun().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04", "the first one being things y")
}
