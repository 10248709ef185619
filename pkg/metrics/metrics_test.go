package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

var header = history.Header{
	Run: "r-1", Scenario: "s", Provider: "local", Distribution: "reference", Harness: "v1", Seed: 7,
	Members: []history.MemberHeader{{Name: "cp1", Release: "1.2"}, {Name: "cp2", Release: "1.2"}},
}

// told takes events, each with its second, and gives the text.
func told(t *testing.T, events ...history.Event) string {
	t.Helper()
	m := New(header)
	for i, ev := range events {
		ev.Seq = int64(i) + 1
		m.Take(&ev)
	}
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func at(second float64, member string) history.Event {
	return history.Event{At: int64(second * float64(time.Second)), Member: member}
}

func process(second float64, member, component, change, release string) history.Event {
	ev := at(second, member)
	ev.Kind, ev.Process = history.KindProcess, &history.Process{Component: component, Change: change, Release: release, Instance: 1}
	return ev
}

func leaseHeld(second float64, holder string, duration int) history.Event {
	ev := at(second, "")
	ev.Kind, ev.Stored = history.KindStored, &history.Stored{
		Type: history.StoredPut, Key: "/registry/leases/kube-system/kube-controller-manager", Name: "kube-system/kube-controller-manager",
		Lease: &history.Lease{Holder: holder, Duration: duration},
	}
	return ev
}

// want fails for each line that the text has not.
func want(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			name, _, _ := strings.Cut(line, "{")
			var similar []string
			for l := range strings.Lines(text) {
				if strings.HasPrefix(l, name) {
					similar = append(similar, l)
				}
			}
			t.Errorf("there is no line\n%s\nbut\n%s", line, strings.Join(similar, ""))
		}
	}
}

func TestLeaders(t *testing.T) {
	const cm, server = history.ComponentControllerManager, history.ComponentAPIServer
	const lease = `lease="kube-system/kube-controller-manager"`
	end := at(40, "")
	end.Kind, end.End = history.KindEnd, &history.End{Complete: true}
	text := told(t,
		process(0, "cp1", server, history.ProcessStarted, "1.2"),
		process(0, "cp2", server, history.ProcessStarted, "1.3"),
		process(0, "cp1", cm, history.ProcessStarted, "1.2"),
		process(0, "cp2", cm, history.ProcessStarted, "1.3"),
		leaseHeld(1, "cp1_a", 10),
		leaseHeld(6, "cp1_a", 10),
		// It can do nothing while it is held by the kernel: one second without leader.
		process(8, "cp1", cm, history.ProcessPaused, ""),
		process(9, "cp1", cm, history.ProcessResumed, ""),
		// It ends; there is no leader until another process leads, which is too new until the old
		// API server has ended at 20.
		process(10, "cp1", cm, history.ProcessExited, ""),
		leaseHeld(14, "cp2_b", 10),
		process(20, "cp1", server, history.ProcessExited, ""),
		leaseHeld(22, "cp2_b", 10), // in force until 32
		end,
	)
	want(t, text,
		`evenkeel_leader_seconds_total{`+lease+`,member="cp1"} 8`,
		`evenkeel_leader_seconds_total{`+lease+`,member="cp2"} 18`,
		`evenkeel_leader_absent_seconds_total{`+lease+`} 13`,
		`evenkeel_leader_skew_seconds_total{`+lease+`} 6`,
		`evenkeel_leader_changes_total{`+lease+`} 1`,
		`evenkeel_leader{`+lease+`,member="cp2"} 1`,
		`evenkeel_process_running{component="controller-manager",member="cp1"} 0`,
		`evenkeel_member_release_info{member="cp2",release="1.3"} 1`,
		`evenkeel_run_complete 1`,
		`evenkeel_run_seconds 40`,
	)
	if strings.Contains(text, `evenkeel_leader{`+lease+`,member="cp1"}`) {
		t.Error("cp1 still leads")
	}
	if strings.Contains(text, `evenkeel_member_release_info{member="cp2",release="1.2"}`) {
		t.Error("cp2 has two releases")
	}
}

// Of a leader that runs on no member nothing is known but the Lease.
func TestLeaderOutside(t *testing.T) {
	text := told(t, leaseHeld(1, "stranger", 10), leaseHeld(5, "", 10), leaseHeld(7, "stranger", 10), leaseHeld(8, "another", 10))
	const lease = `lease="kube-system/kube-controller-manager"`
	want(t, text,
		`evenkeel_leader_seconds_total{`+lease+`,member="other"} 5`,
		`evenkeel_leader_absent_seconds_total{`+lease+`} 2`,
		`evenkeel_leader_changes_total{`+lease+`} 1`,
		`evenkeel_leader_skew_seconds_total{`+lease+`} 0`,
	)
}

func TestRequests(t *testing.T) {
	var events []history.Event
	for i, q := range []history.Request{{Code: 201}, {Code: 304}, {Code: 409}, {Code: 429}, {Code: 503, Barrier: true}, {Code: 503}, {}} {
		ev := at(float64(i)+1, "cp1")
		q.Class = history.ClassGuarded
		ev.From, ev.Kind, ev.Request = ev.At-int64(20*time.Millisecond), history.KindRequest, &q
		events = append(events, ev)
	}
	balancer := at(9, "")
	balancer.Kind, balancer.LoadBalancer = history.KindLoadBalancer, &history.LoadBalancer{Error: "refused"}
	document := at(10, "cp2")
	document.Kind, document.DiscoveryDocument = history.KindDiscoveryDocument, &history.DiscoveryDocument{Code: 304}
	text := told(t, append(events, balancer, document)...)
	want(t, text,
		`evenkeel_requests_total{class="guarded",member="cp1",outcome="answered"} 2`,
		`evenkeel_requests_total{class="guarded",member="cp1",outcome="refused"} 1`,
		`evenkeel_requests_total{class="guarded",member="cp1",outcome="throttled"} 1`,
		`evenkeel_requests_total{class="guarded",member="cp1",outcome="barrier"} 1`,
		`evenkeel_requests_total{class="guarded",member="cp1",outcome="failed"} 1`,
		`evenkeel_requests_total{class="guarded",member="cp1",outcome="unanswered"} 1`,
		`evenkeel_request_seconds_count{member="cp1"} 7`,
		`evenkeel_request_seconds_bucket{member="cp1",le="0.025"} 7`,
		`evenkeel_balancer_requests_total{outcome="unanswered"} 1`,
		`evenkeel_discovery_answers_total{member="cp2",outcome="answered"} 1`,
		`evenkeel_events_total{kind="request"} 7`,
	)
}

func TestStepsFaultsAndMembers(t *testing.T) {
	step := func(second float64, index int, phase history.Phase) history.Event {
		ev := at(second, "cp1")
		ev.Kind, ev.Step = history.KindStep, &history.Step{Index: index, Action: "upgrade", Phase: phase}
		return ev
	}
	fault := func(second float64, phase history.Phase) history.Event {
		ev := at(second, "cp1")
		ev.Kind, ev.Fault = history.KindFault, &history.Fault{ID: "f", Type: "NetworkChaos", Action: "partition", Phase: phase}
		return ev
	}
	ready := func(second float64, code int) history.Event {
		ev := at(second, "cp1")
		ev.Kind, ev.Ready = history.KindReady, &history.Ready{Code: code}
		return ev
	}
	held := at(20, "")
	held.Kind, held.Hold = history.KindHold, &history.Hold{Phase: history.PhaseEnd, Releases: map[string]string{"cp1": "1.3", "cp2": "1.2"}}
	gap := at(21, "")
	gap.Kind, gap.RecorderMissed = history.KindRecorderMissed, &history.RecorderMissed{Source: "etcd"}
	text := told(t, ready(2, 200), step(3, 4, history.PhaseBegin), ready(4, 500), ready(5.5, 200), step(7, 4, history.PhaseEnd),
		step(8, 5, history.PhaseBegin), step(9, 5, history.PhaseFailed),
		fault(10, history.PhaseInject), fault(11, history.PhaseWitness), held, gap)
	want(t, text,
		`evenkeel_step 5`,
		`evenkeel_steps_total{action="upgrade",outcome="done"} 1`,
		`evenkeel_steps_total{action="upgrade",outcome="failed"} 1`,
		`evenkeel_step_seconds_sum{action="upgrade"} 5`,
		`evenkeel_member_ready{member="cp1"} 1`,
		`evenkeel_member_not_ready_seconds_total{member="cp1"} 3.5`,
		`evenkeel_member_not_ready_seconds_total{member="cp2"} 21`,
		`evenkeel_faults_total{action="partition",phase="witness",type="NetworkChaos"} 1`,
		`evenkeel_faults_active{action="partition",member="cp1",type="NetworkChaos"} 1`,
		`evenkeel_states_held_total 1`,
		`evenkeel_mixed_states_held_total 1`,
		`evenkeel_recorder_gaps_total{source="etcd"} 1`,
	)
	want(t, told(t, fault(1, history.PhaseInject), fault(2, history.PhaseHeal), fault(3, history.PhaseHeal)),
		`evenkeel_faults_active{action="partition",member="cp1",type="NetworkChaos"} 0`)
}

func TestRequirements(t *testing.T) {
	m := New(header)
	standing := []check.Progress{{ID: "SV-06", Verdict: check.Inconclusive, Observations: []check.Observation{{What: "things", Seen: 1, Need: 3}}}}
	m.Standing(standing)
	standing[0].Verdict, standing[0].Violations = check.Fail, 2
	m.Standing(standing)
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	want(t, string(text),
		`evenkeel_requirement_verdict{requirement="SV-06",verdict="fail"} 1`,
		`evenkeel_requirement_violations{requirement="SV-06"} 2`,
		`evenkeel_requirement_observations{observation="things",requirement="SV-06"} 1`,
		`evenkeel_requirement_observations_needed{observation="things",requirement="SV-06"} 3`,
	)
	if strings.Contains(string(text), "evenkeel_run_verdict{") || strings.Contains(string(text), `verdict="inconclusive"`) {
		t.Errorf("a verdict before the end, or two of them:\n%s", text)
	}
	m.Judged(&report.ConformanceReport{Verdict: check.Inconclusive, NotJudged: []requirement.ID{"SV-22"},
		Results: []check.Result{{ID: "SV-06", Verdict: check.Pass}}})
	if text, err = m.Text(); err != nil {
		t.Fatal(err)
	}
	want(t, string(text), `evenkeel_run_verdict{verdict="inconclusive"} 1`, `evenkeel_requirement_verdict{requirement="SV-06",verdict="pass"} 1`,
		`evenkeel_requirement_verdict{requirement="SV-22",verdict="skipped"} 1`, `evenkeel_requirement_violations{requirement="SV-06"} 0`)
}

// All that a stranger needs is the history.
func TestBundleIsDeterministic(t *testing.T) {
	told := story.Named(stories.All(), "SV-06/fail")
	h := told.Header()
	h.Judges, h.Asked = []string{"SV-06"}, []string{"SV-06"}
	var data bytes.Buffer
	if err := story.Write(&data, h, told.Events()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := judge.Bundle(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Bundle(t.Context(), dir, rep)
	if err != nil {
		t.Fatal(err)
	}
	want(t, string(first), `evenkeel_run_verdict{verdict="fail"} 1`, `evenkeel_requirement_verdict{requirement="SV-06",verdict="fail"} 1`)
	for range 20 {
		again, err := Bundle(t.Context(), dir, rep)
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("%v; the second text differs from the first", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Bundle(ctx, dir, rep); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
	if _, err := Bundle(t.Context(), t.TempDir(), rep); err == nil || !strings.Contains(err.Error(), "the metrics cannot be made") {
		t.Errorf("error %v", err)
	}
}

func TestServer(t *testing.T) {
	s, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), s.listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "name another address with --metrics-addr") {
		t.Errorf("an address in use: %v", err)
	}
	m := New(header)
	s.Serve(m)
	get := func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if code, text := get(); code != http.StatusOK || !strings.Contains(text, "evenkeel_run_seconds 0\n") {
		t.Errorf("%d:\n%s", code, text)
	}
	ev := at(3, "")
	m.Take(&ev)
	if _, text := get(); !strings.Contains(text, "evenkeel_run_seconds 3\n") {
		t.Errorf("it does not go on:\n%s", text)
	}
	addr := s.listener.Addr().String()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Listen(t.Context(), addr)
	if err != nil {
		t.Fatalf("the address was not given back: %v", err)
	}
	// One that never served ends too.
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// The dashboard asks for nothing that is not there.
func TestDashboard(t *testing.T) {
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(Dashboard, &d); err != nil {
		t.Fatal(err)
	}
	names := New(header).names
	for _, name := range names {
		names = append(names, name+"_bucket")
	}
	shown := 0
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`evenkeel_[a-z_]+`).FindAllString(target.Expr, -1) {
				shown++
				if !slices.Contains(names, name) {
					t.Errorf("%q asks for %s, which is no metric", p.Title, name)
				}
			}
		}
	}
	if shown < 15 {
		t.Errorf("only %d metrics are shown", shown)
	}
}
