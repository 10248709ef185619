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

// externalHeader returns the header of a run on an external cluster.
func externalHeader(lacks ...history.Lack) history.Header {
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
		{"local provider", "SV-01", history.Header{Provider: "local", Lacks: []history.Lack{lack(history.LackEtcd)}}, ""},
		{"by the API alone", "AD-01", externalHeader(lack(history.LackEtcd), lack(history.LackRestarts), lack(history.LackBackends), lack(history.LackProbes)), ""},
		{"by processes", "AD-15", externalHeader(), "from the start of every process"},
		{"by the content of etcd", "SV-15", externalHeader(), "from the whole content of etcd"},
		{"restarts", "AD-07", externalHeader(), ""},
		{"no restarts", "AD-07", externalHeader(lack(history.LackRestarts)), "it needs the restart of an API server, and of restarts"},
		{"no backends", "AD-10", externalHeader(lack(history.LackBackends)), "it needs aggregated API servers of the harness, and of backends"},
		{"no etcd", "SV-04", externalHeader(lack(history.LackEtcd)), "it needs the content of etcd, and of etcd"},
		{"no probes", "SV-06", externalHeader(lack(history.LackProbes)), "it needs status writes that the API servers must reject, and of probes"},
		{"etcd and probes", "SV-06", externalHeader(), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			why, not := Inapplicable(tc.id, tc.header)
			if not != (tc.want != "") || !strings.Contains(why, tc.want) {
				t.Errorf("%q (%v), want %q", why, not, tc.want)
			}
		})
	}
}

// The law of a listed requirement relies on etcd if and only if the list says so.
func TestExternalNeeds_NameEtcdWhereTheLawReadsIt(t *testing.T) {
	for id, needs := range externalNeeds {
		if !Built(id) {
			t.Errorf("%s is not judged at all", id)
		}
		ofEtcd := slices.ContainsFunc(keps, func(k law.KEP) bool {
			return slices.ContainsFunc(k.Rows(), func(row law.Row) bool { return row.ID == id && slices.Contains(row.Sources, fact.Etcd) })
		})
		declared := false
		for _, need := range needs {
			declared = declared || need == history.LackEtcd
			if needWords[need] == "" {
				t.Errorf("%s needs %s, which needWords does not name", id, need)
			}
		}
		if ofEtcd != declared {
			t.Errorf("%s relies on etcd: %v, and externalNeeds says so: %v", id, ofEtcd, declared)
		}
	}
}

// On an external cluster, requirements that are not listed are not applicable, even by the
// histories that pass them elsewhere.
func TestJudge_ExternalClusterJudgesListedRequirementsOnly(t *testing.T) {
	for _, one := range requirement.All() {
		judging := judgeExternal(t, one)
		if judging == nil {
			continue
		}
		result := judging.End(nil).Results[0]
		_, listed := externalNeeds[one.ID]
		if listed != (result.Verdict != NotApplicable) {
			t.Errorf("%s: %s (%v)", one.ID, result.Verdict, result.Reasons)
		}
		if !listed && (len(result.Reasons) != 1 || judging.Progress()[0].Verdict != NotApplicable) {
			t.Errorf("%s: the reasons are %v, and its progress is %s", one.ID, result.Reasons, judging.Progress()[0].Verdict)
		}
	}
}

// A requirement that relies on etcd does not pass where the recorder cannot read etcd, even
// if the header does not say so: the history then has a gap.
func TestJudge_GapOfEtcdIsInconclusive(t *testing.T) {
	gap := &history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: "etcd", Message: "the content of etcd is unknown"}}
	for _, id := range []requirement.ID{"SV-04", "SV-06"} {
		one, _ := requirement.Lookup(id)
		if result := judgeExternal(t, one).End(nil).Results[0]; result.Verdict != Pass {
			t.Errorf("%s is %s with all of etcd (%v)", id, result.Verdict, result.Reasons)
		}
		result := judgeExternal(t, one, gap).End(nil).Results[0]
		if result.Verdict != Inconclusive || !strings.Contains(strings.Join(result.Reasons, "; "), "the etcd recorder may have missed something 1 times") {
			t.Errorf("%s is %s (%v)", id, result.Verdict, result.Reasons)
		}
	}
}

// judgeExternal judges the passing history of a requirement as the history of an external
// cluster, followed by more events. It returns nil if no law judges the requirement.
func judgeExternal(t *testing.T, one requirement.Requirement, more ...*history.Event) *Judging {
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
