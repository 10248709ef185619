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
	return history.Header{Lacks: append([]history.Lack{{What: history.LackEarlier, Reason: "it ran before"}}, lacks...)}
}

func TestInapplicable(t *testing.T) {
	lack := func(what string) history.Lack { return history.Lack{What: what, Reason: "of " + what} }
	for _, tc := range []struct {
		name   string
		id     requirement.ID
		header history.Header
		want   string
	}{
		{"a run from the beginning", "SV-01", history.Header{}, ""},
		{"by the API alone", "AD-01", externalHeader(lack(history.LackEtcd), lack(history.LackRestarts), lack(history.LackBackends), lack(history.LackProbes)), ""},
		{"a run that does not tell what was given", "AD-15", history.Header{Lacks: []history.Lack{lack(history.LackBeginning)}}, "it needs the start of every process, and the whole content of etcd since the beginning, and of beginning"},
		{"by processes", "AD-15", externalHeader(lack(history.LackProcesses)), "it needs the processes of all components, and of processes"},
		{"by the content of etcd", "SV-15", externalHeader(lack(history.LackEtcd)), "it needs the content of etcd, and of etcd"},
		{"by both", "SV-15", externalHeader(), ""},
		{"no traffic", "RO-01", externalHeader(lack(history.LackTraffic)), "it needs objects of the harness that are written all the time, and of traffic"},
		{"no emulation", "EV-01", externalHeader(lack(history.LackEmulation)), "it needs members that emulate an older version"},
		{"no features", "SV-25", externalHeader(lack(history.LackFeatures)), "it needs features that are switched off at single members"},
		{"no peers", "AD-23", externalHeader(lack(history.LackPeers)), "it needs API servers that tell of what their peers host, and of peers"},
		{"no balancer", "RO-11", externalHeader(lack(history.LackBalancer)), "it needs a load balancer before the API servers"},
		{"restarts", "AD-07", externalHeader(), ""},
		{"no restarts", "AD-07", externalHeader(lack(history.LackRestarts)), "it needs the restart of an API server, and of restarts"},
		{"no backends", "AD-10", externalHeader(lack(history.LackBackends)), "it needs aggregated API servers of the harness, and of backends"},
		{"no etcd", "SV-04", externalHeader(lack(history.LackEtcd)), "it needs the content of etcd, and of etcd"},
		{"no probes", "SV-06", externalHeader(lack(history.LackProbes)), "it needs status writes that the API servers must reject, and of probes"},
		{"no processes", "RO-02", externalHeader(lack(history.LackProcesses)), "it needs the processes of all components, and of processes"},
		{"processes", "RO-02", externalHeader(lack(history.LackEtcd)), ""},
		{"processes and no etcd", "RO-03", externalHeader(lack(history.LackEtcd)), "it needs the content of etcd"},
		{"processes and etcd", "RO-03", externalHeader(), ""},
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

// A law that judges runs without the beginning relies on etcd if and only if it says so.
func TestRows_NameEtcdWhereTheLawReadsIt(t *testing.T) {
	listed := 0
	for _, k := range keps {
		for _, row := range k.Rows() {
			for _, need := range row.Lacking() {
				if needWords[need] == "" {
					t.Errorf("%s needs %s, which needWords does not name", row.ID, need)
				}
			}
			if row.Takes == nil {
				continue
			}
			listed++
			reads, says := slices.Contains(row.Sources, fact.Etcd), slices.Contains(row.Takes, history.LackEtcd)
			if reads != says {
				t.Errorf("%s relies on etcd: %v, and its row says so: %v", row.ID, reads, says)
			}
		}
	}
	if listed == 0 {
		t.Error("no law can judge a cluster that was there before: Takes of its row says what that needs")
	}
}

// Of an external cluster whose recorders have not told what was so as they began, requirements are
// not applicable whose law takes that, even by the histories that pass them elsewhere.
func TestJudge_WithoutWhatWasGivenListedRequirementsOnly(t *testing.T) {
	for _, one := range requirement.All() {
		if !Built(one.ID) {
			continue
		}
		told := story.Named(allStories, string(one.ID)+"/pass")
		header := told.Header()
		header.Lacks = []history.Lack{{What: history.LackBeginning, Reason: "it ran before"}}
		judging := Begin(header, []requirement.Requirement{one})
		for _, ev := range told.Events() {
			judging.Take(&ev)
		}
		result := judging.End(nil).Results[0]
		listed := rowOf(one.ID).Takes != nil
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
	header.Lacks = externalHeader().Lacks
	judging := Begin(header, []requirement.Requirement{one})
	for _, ev := range told.Events() {
		judging.Take(&ev)
	}
	for _, ev := range more {
		judging.Take(ev)
	}
	return judging
}

// A header must not keep a breach from being judged by what it says that the run lacks.
func TestJudge_ALackThatTheHistoryRefutesHidesNoBreach(t *testing.T) {
	for _, tc := range []struct {
		what string
		told func(*historyBuilder) *historyBuilder
		want Verdict
	}{
		{history.LackEtcd, func(b *historyBuilder) *historyBuilder { return b.store(5) }, Fail},
		{history.LackProcesses, func(b *historyBuilder) *historyBuilder { return b.process(history.ProcessStarted) }, Fail},
		{history.LackProcesses, func(b *historyBuilder) *historyBuilder {
			return b.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 1, SelfReported: true}})
		}, NotApplicable},
		{history.LackEtcd, func(b *historyBuilder) *historyBuilder { return b }, NotApplicable},
	} {
		told := newHistory()
		told.header.Lacks = []history.Lack{{What: tc.what, Reason: "r"}}
		r := judgeBy(t, tc.told(told).end(), func(_ *countedFacts, l *law.Ledger) { l.Broken("it", fact.Exactly(1, 1), []int64{1}, "broken") })
		if r.Verdict != tc.want {
			t.Errorf("without %s: %s, want %s", tc.what, r.Verdict, tc.want)
		}
		if tc.want == Fail {
			wantReason(t, r, "and event 1 shows otherwise")
		}
	}
}
