package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// foreignHeader is that of a run on a cluster that lacks nothing which it can give.
func foreignHeader(lacks ...history.Lack) history.Header {
	return history.Header{Provider: history.ProviderExternal, Lacks: lacks}
}

func TestInapplicable(t *testing.T) {
	lack := func(what string) history.Lack { return history.Lack{What: what, Reason: "of " + what} }
	for _, tc := range []struct {
		name   string
		id     requirement.ID
		header history.Header
		want   string
	}{
		{"of our own", "SV-01", history.Header{Provider: "local", Lacks: []history.Lack{lack(history.LackEtcd)}}, ""},
		{"by the API alone", "AD-01", foreignHeader(lack(history.LackEtcd), lack(history.LackRestarts), lack(history.LackBackends), lack(history.LackProbes)), ""},
		{"by processes", "AD-15", foreignHeader(), "it is judged from processes that are seen to start"},
		{"by all that ever lay in etcd", "SV-15", foreignHeader(), "from all that ever lay in etcd"},
		{"restarts", "AD-07", foreignHeader(), ""},
		{"no restarts", "AD-07", foreignHeader(lack(history.LackRestarts)), "it takes an API server that is restarted, and of restarts"},
		{"no backends", "AD-10", foreignHeader(lack(history.LackBackends)), "it takes aggregated servers of the harness, and of backends"},
		{"no etcd", "SV-04", foreignHeader(lack(history.LackEtcd)), "it takes what lies in etcd, and of etcd"},
		{"no probes", "SV-06", foreignHeader(lack(history.LackProbes)), "it takes statuses that servers must refuse, and of probes"},
		{"etcd and probes", "SV-06", foreignHeader(), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			why, not := Inapplicable(tc.id, tc.header)
			if not != (tc.want != "") || !strings.Contains(why, tc.want) {
				t.Errorf("%q (%v), want %q", why, not, tc.want)
			}
		})
	}
}

// What is listed is judged by a law that relies on etcd only where the list says so.
func TestForeignRequirementsRelyOnWhatThereIs(t *testing.T) {
	for id, needs := range abroadNeeds {
		if !Built(id) {
			t.Errorf("%s is not judged at all", id)
		}
		ofEtcd := slices.ContainsFunc(keps, func(k law.KEP) bool {
			return slices.ContainsFunc(k.Rows(), func(row law.Row) bool { return row.ID == id && slices.Contains(row.Sources, fact.Etcd) })
		})
		declared := false
		for _, need := range needs {
			declared = declared || need == history.LackEtcd
			if wordsOf[need] == "" {
				t.Errorf("%s needs %s, for which there are no words", id, need)
			}
		}
		if ofEtcd != declared {
			t.Errorf("%s relies on etcd: %v, and says so: %v", id, ofEtcd, declared)
		}
	}
}

// The very histories that prove requirements prove none that is not listed, and no
// breach, once somebody else runs the cluster.
func TestNothingElseIsJudgedOfAForeignCluster(t *testing.T) {
	for _, one := range requirement.All() {
		judging := abroad(t, one)
		if judging == nil {
			continue
		}
		result := judging.End(nil).Results[0]
		_, listed := abroadNeeds[one.ID]
		if listed != (result.Verdict != NotApplicable) {
			t.Errorf("%s: %s (%v)", one.ID, result.Verdict, result.Reasons)
		}
		if !listed && (len(result.Reasons) != 1 || judging.Progress()[0].Verdict != NotApplicable) {
			t.Errorf("%s: the reasons are %v, and it stands at %s", one.ID, result.Reasons, judging.Progress()[0].Verdict)
		}
	}
}

// What relies on etcd never passes where that may not be read, also if the header does
// not say so: the history has a gap then.
func TestAGapOfEtcdIsNoPass(t *testing.T) {
	gap := &history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: "etcd", Message: "nothing that lies in etcd is known"}}
	for _, id := range []requirement.ID{"SV-04", "SV-06"} {
		one, _ := requirement.Lookup(id)
		if result := abroad(t, one).End(nil).Results[0]; result.Verdict != Pass {
			t.Errorf("%s is %s with all of etcd (%v)", id, result.Verdict, result.Reasons)
		}
		result := abroad(t, one, gap).End(nil).Results[0]
		if result.Verdict != Inconclusive || !strings.Contains(strings.Join(result.Reasons, "; "), "the etcd recorder may have missed something 1 times") {
			t.Errorf("%s is %s (%v)", id, result.Verdict, result.Reasons)
		}
	}
}

// abroad judges the passing history of a requirement as that of a cluster that somebody
// else runs, with more events behind its own; nil if there is none.
func abroad(t *testing.T, one requirement.Requirement, more ...*history.Event) *Judging {
	t.Helper()
	if !Built(one.ID) {
		return nil
	}
	told := story.Named(allStories, string(one.ID)+"/pass")
	header := told.Header()
	header.Provider = history.ProviderExternal
	judging := Begin(header, []requirement.Requirement{one})
	for _, ev := range told.Events() {
		judging.Take(&ev)
	}
	for _, ev := range more {
		judging.Take(ev)
	}
	return judging
}
