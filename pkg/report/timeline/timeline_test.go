package timeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
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
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/style"
)

// maxPage is how large a page of 10^5 events may be.
const maxPage = 5 << 20

func TestSameHistorySamePage(t *testing.T) {
	dir := write(t, tale())
	first := page(t, dir)
	for range 5 { // maps are in another order each time
		if !bytes.Equal(page(t, dir), first) {
			t.Fatal("two pages of one history differ")
		}
	}
	if len(first) < 10_000 {
		t.Errorf("the page has %d bytes only", len(first))
	}
}

func TestLanes(t *testing.T) {
	p := pictureOf(t, write(t, tale()))
	for lane, want := range map[string][]string{
		"The run, steps":             {"0 boot", "1 upgrade cp1 to 1.3"},
		"The run, holds":             {"before: cp1 1.2, cp2 1.2"},
		"The run, faults":            {"crash-1: PodChaos container-kill on cp1 apiserver"},
		"cp1, API server":            {"1.2, not ready", "1.2", "no process (signal: killed)", "1.3, not ready", "1.3"},
		"cp2, API server":            {"1.2, not ready", "1.2", "1.2, paused", "1.2, not ready", "1.2"},
		"cp1, discovery tag":         {"tag 1 (aaaaaaaaaaaa…)", "tag 2 (bb)"},
		"Leaders, boss":              {"cp1 (cp1_7)", "no leader", "another_holder"},
		"Agreed storage versions, a": {"none agreed; no server has an entry", "v1; entries of cp1", "none agreed (v1 or v2); entries of cp1, cp2", "v2; entries of cp1, cp2", "the object is gone"},
		"Storage versions that stayed as they were, b": {"none agreed; no server has an entry", "v1; entries of cp1"},
		"Migrations, m": {"waits of things.example.com", "runs of things.example.com", "failed: Why because of things.example.com"},
	} {
		l, ok := laneOf(p, lane)
		if !ok {
			t.Errorf("there is no lane %q", lane)
			continue
		}
		var got []string
		for i, s := range l.Spans {
			got = append(got, p.Texts[s.Text])
			if s.To < s.From || i > 0 && s.From < l.Spans[i-1].To {
				t.Errorf("%s: the spans overlap or run backwards: %+v", lane, l.Spans)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", lane, got, want)
		}
	}
	for lane, want := range map[string][]int{
		"cp1, requests":          {markSilent, markBarrier, markError},
		"The run, faults":        {markWitness},
		"The run, gaps":          {markGap},
		"The run, load balancer": {markError},
		"Findings, SV-06":        {markBreach},
	} {
		l, ok := laneOf(p, lane)
		var got []int
		for _, m := range l.Marks {
			got = append(got, m.Style)
		}
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: marks %v, want %v", lane, got, want)
		}
	}
	if len(p.Bands) != 1 || p.Bands[0].To <= p.Bands[0].From {
		t.Errorf("bands of faults: %+v", p.Bands)
	}
	for _, g := range p.Groups {
		for _, l := range g.Lanes {
			for _, m := range l.Marks {
				if _, found := slices.BinarySearch(p.Events.Seq, m.Seq); !found {
					t.Errorf("%s, %s: event %d cannot be shown", g.Name, l.Name, m.Seq)
				}
			}
		}
	}
}

// The page says what the requirement is, what happened, and where to look next.
func TestPage_SaysWhatHappenedAndWhereToLook(t *testing.T) {
	html := string(page(t, write(t, tale())))
	for _, want := range []string{
		"FAIL: 1 of 2 requirements is broken.", "The promise of SV-06.", "The run found it broken once.",
		"it was not so", `href="#event=21"`, "in step 1 upgrade cp1 to 1.3; while the fault crash-1 was active on cp1; cp1 had no API server, cp2 ran 1.2",
		"logs/cp1-apiserver.log", "pkg/law, in the file with sv06 in its name", "nothing is as it seems",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A violation of a requirement that the scenario does not list has its card, its lane and a
// note.
func TestPage_ShowsUnlistedFailure(t *testing.T) {
	dir, rep := write(t, tale()), told()
	listed, err := Bundle(t.Context(), dir, rep)
	if err != nil {
		t.Fatal(err)
	}
	rep.Results[1].Unlisted = true
	unlisted, err := Bundle(t.Context(), dir, rep)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(unlisted), report.UnlistedNote) || strings.Contains(string(listed), report.UnlistedNote) {
		t.Error("the page does not tell an unlisted failure from a listed one")
	}
	for _, want := range []string{"FAIL: 1 of 2 requirements is broken.", "it was not so", `href="#event=21"`} {
		if !strings.Contains(string(unlisted), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// What a server under test has said is shown and never run, and nothing is loaded.
func TestNothingForeignRuns(t *testing.T) {
	nasty := `</script><script>alert(1)</script><img src=x onerror=alert(1)>'"` + "\u2028`${1}`"
	events := append(tale(),
		history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: "put", Key: "/registry/leases/x", Name: nasty, Lease: &history.Lease{Holder: nasty}}},
		history.Event{Kind: history.KindStep, Member: nasty, Step: &history.Step{Index: 2, Action: nasty, Phase: history.PhaseBegin}},
		history.Event{Kind: history.KindFault, Member: nasty, Fault: &history.Fault{ID: nasty, Type: nasty, Phase: history.PhaseInject}})
	html := string(page(t, write(t, events)))
	if got := strings.Count(html, "<script"); got != 2 {
		t.Errorf("%d scripts begin, want the data and the page's own", got)
	}
	if strings.Contains(html, "<img") {
		t.Error("an element of a stranger's is in the page")
	}
	for _, attribute := range []string{` src=`, `href="http`, `url(`, `@import`, ` style="`} {
		if strings.Contains(pageHTML+style.Sheet(pageCSS), attribute) {
			t.Errorf("the page has %s", attribute)
		}
	}
	// The policy names the very texts that are in the page.
	sheet, script := between(html, "<style>", "</style>"), html[strings.LastIndex(html, "<script>")+len("<script>"):strings.LastIndex(html, "</script>")]
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(html)
	if policy == nil {
		t.Fatal("there is no policy")
	}
	for _, want := range []string{"default-src &#39;none&#39;", escapeHash(style.Hash(sheet)), escapeHash(style.Hash(script))} {
		if !strings.Contains(policy[1], want) {
			t.Errorf("the policy %s has no %s", policy[1], want)
		}
	}
	if err := json.Unmarshal([]byte(between(html, `id="data">`, "</script>")), new(any)); err != nil {
		t.Errorf("the data cannot be read: %v", err)
	}
}

// escapeHash is a hash as html/template writes it in an attribute.
func escapeHash(h string) string { return strings.ReplaceAll(h, "+", "&#43;") }

func TestLongHistoryMakesSmallPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws 100000 events")
	}
	dir := write(t, longTale(100_000))
	html := page(t, dir)
	t.Logf("the page has %d bytes", len(html))
	if len(html) > maxPage {
		t.Errorf("the page has %d bytes, more than %d", len(html), maxPage)
	}
	p := pictureOf(t, dir)
	texts := 0
	for _, text := range p.Events.Text {
		if text != "" {
			texts++
		}
	}
	if texts < 1000 {
		t.Errorf("the text of %d events is in the page only", texts)
	}
	for i, seq := range p.Events.Seq {
		if slices.Contains(p.Findings, seq) && p.Events.Text[i] == "" {
			t.Errorf("event %d, which a finding names, has no text", seq)
		}
	}
}

func TestThin(t *testing.T) {
	marks := []mark{{0, markError, 1, 1}, {1, markSilent, 2, 1}, {5, markError, 3, 1}, {10, markError, 4, 1}, {12, markSilent, 5, 1}}
	got := thin(marks, 10)
	if want := []mark{{0, markError, 1, 2}, {1, markSilent, 2, 1}, {10, markError, 4, 1}, {12, markSilent, 5, 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r := &requests{}
	for i := range int64(50_000) {
		r.take(i*100, i+1, 503, false)
	}
	marks = r.marks()
	total := 0
	for _, m := range marks {
		total += m.Count
	}
	if len(marks) > maxMarks || total != 50_000 {
		t.Errorf("%d marks for %d errors", len(marks), total)
	}
}

func TestDamagedAndEmptyHistories(t *testing.T) {
	for name, content := range map[string]string{
		"no events": "", "half an event": `{"seq":1,"at":5,"kind":"st`, "no event": "{}\n", "payloads missing": `{"seq":1,"at":5,"kind":"stored"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, nil)
			file := filepath.Join(dir, bundle.HistoryFile)
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, append(raw, content...), 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := judge.Bundle(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if html, err := Bundle(t.Context(), dir, rep); err != nil || !bytes.Contains(html, []byte("The evidence is not sufficient")) {
				t.Errorf("%v\n%.300s", err, html)
			}
		})
	}
}

// --- Helpers ---

// tale is a short run with something for each lane.
func tale() []history.Event {
	apiserver := func(member, change string, instance int, release string) history.Event {
		return history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
			Component: history.ComponentAPIServer, Change: change, Instance: instance, Release: release, Exit: map[string]string{history.ProcessExited: "signal: killed"}[change], Expected: true}}
	}
	ready := func(member string, code int) history.Event {
		return history.Event{Kind: history.KindReady, Member: member, Ready: &history.Ready{Code: code}}
	}
	revision := int64(0)
	stored := func(key, name string, s history.Stored) history.Event {
		revision++
		s.Revision = revision
		s.Key, s.Name = "/registry/"+key+"/"+name, name
		if s.Type == "" {
			s.Type = history.StoredPut
		}
		return history.Event{Kind: history.KindStored, Stored: &s}
	}
	entries := func(common string, of ...string) history.Stored {
		sv := &history.StorageVersion{}
		for pair := range slices.Chunk(of, 2) {
			sv.Entries = append(sv.Entries, history.Entry{ServerID: pair[0], Encoding: pair[1]})
		}
		if common != "" {
			sv.Common = &common
		}
		return history.Stored{StorageVersion: sv}
	}
	migration := func(conditions ...history.Condition) history.Stored {
		return history.Stored{Migration: &history.Migration{Group: "example.com", Resource: "things", Conditions: conditions}}
	}
	fault := func(phase history.Phase, proof string) history.Event {
		return history.Event{Kind: history.KindFault, Member: "cp1", Fault: &history.Fault{
			ID: "crash-1", Type: "PodChaos", Action: "container-kill", Component: "apiserver", Phase: phase, Proof: proof}}
	}
	request := func(code int, barrier bool) history.Event {
		return history.Event{Kind: history.KindRequest, Member: "cp1", Request: &history.Request{Class: "guarded", Verb: "create", Version: "v1", Resource: "configmaps", Code: code, Barrier: barrier}}
	}
	document := func(tag string) history.Event {
		return history.Event{Kind: history.KindDiscoveryDocument, Member: "cp1", DiscoveryDocument: &history.DiscoveryDocument{Path: "/apis", Code: 200, ETag: `"` + tag + `"`, ContentType: "application/json;as=APIGroupDiscoveryList"}}
	}
	lease := func(holder string) history.Event {
		return stored("leases/kube-system", "kube-system/boss", history.Stored{Lease: &history.Lease{Holder: holder}})
	}
	return []history.Event{
		{Kind: history.KindStep, Step: &history.Step{Action: "boot", Phase: history.PhaseBegin}},
		apiserver("cp1", history.ProcessStarted, 1, "1.2"), apiserver("cp2", history.ProcessStarted, 1, "1.2"),
		stored("storageversions", "a", entries("")), stored("storageversions", "b", entries("")),
		stored("storageversions", "a", entries("v1", "id-1", "v1")), stored("storageversions", "b", entries("v1", "id-1", "v1")),
		ready("cp1", 200), ready("cp2", 200), lease("cp1_7"), document(strings.Repeat("a", 64)),
		{Kind: history.KindStep, Step: &history.Step{Action: "boot", Phase: history.PhaseEnd}},
		{Kind: history.KindHold, Hold: &history.Hold{Name: "before", Phase: history.PhaseBegin, Releases: map[string]string{"cp2": "1.2", "cp1": "1.2"}}},
		{Kind: history.KindHold, Hold: &history.Hold{Name: "before", Phase: history.PhaseEnd}},
		request(200, false), request(404, false),
		{Kind: history.KindStep, Member: "cp1", Step: &history.Step{Index: 1, Action: "upgrade", Release: "1.3", Phase: history.PhaseBegin}},
		fault(history.PhaseInject, ""), apiserver("cp1", history.ProcessExited, 1, "1.2"), fault(history.PhaseWitness, "it is gone"),
		request(0, false), // event 21, which the report names
		lease(""), fault(history.PhaseHeal, ""),
		apiserver("cp1", history.ProcessStarted, 2, "1.3"), request(503, true), request(500, false), ready("cp1", 200),
		stored("storageversions", "a", entries("", "id-1", "v1", "id-2", "v2")), stored("storageversions", "a", entries("v2", "id-1", "v2", "id-2", "v2")),
		document("bb"), lease("another_holder"),
		apiserver("cp2", history.ProcessPaused, 1, "1.2"), ready("cp2", 0), apiserver("cp2", history.ProcessResumed, 1, "1.2"), ready("cp2", 200),
		{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: "etcd", Message: "compacted"}},
		{Kind: history.KindLoadBalancer, LoadBalancer: &history.LoadBalancer{Code: 503}},
		stored("storagemigration.k8s.io/storageversionmigrations", "m", migration()),
		stored("storagemigration.k8s.io/storageversionmigrations", "m", migration(history.Condition{Type: "Running", Status: "True"})),
		stored("storagemigration.k8s.io/storageversionmigrations", "m", migration(history.Condition{Type: "Running", Status: "True"}, history.Condition{Type: "Failed", Status: "True", Reason: "Why", Message: "because"})),
		stored("storageversions", "a", history.Stored{Type: history.StoredDelete}),
		{Kind: history.KindStep, Member: "cp1", Step: &history.Step{Index: 1, Action: "upgrade", Release: "1.3", Phase: history.PhaseEnd}},
		{Kind: history.KindEnd, End: &history.End{Complete: true}},
	}
}

// longTale is the tale over and over until there are so many events, with many
// more requests than anything else, as in a run.
func longTale(events int) []history.Event {
	var out []history.Event
	for round := 0; len(out) < events-1; round++ {
		for i, ev := range tale() {
			if ev.Kind == history.KindEnd {
				continue
			}
			if ev.Stored != nil && ev.Stored.StorageVersion != nil {
				s := *ev.Stored
				s.Name += fmt.Sprint(round % 60)
				ev.Stored = &s
			}
			out = append(out, ev)
			if i%4 == 0 {
				code := []int{200, 201, 503, 0}[round%4]
				for range 12 {
					out = append(out, history.Event{Kind: history.KindRequest, Member: "cp2", Request: &history.Request{
						Class: "guarded", Verb: "create", Version: "v1", Resource: "configmaps", Name: "default/some-object-with-a-name", Code: code,
						Message: "something went wrong, and this says so at some length"}})
				}
			}
		}
	}
	return append(out[:events-1], history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
}

// write makes a bundle of events, 50 ms apart.
func write(t testing.TB, events []history.Event) string {
	t.Helper()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, bundle.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	buffered := bufio.NewWriter(file)
	out := json.NewEncoder(buffered)
	out.SetEscapeHTML(true)
	header := history.Header{
		Format: history.Format, Version: history.Version, Run: "tale", Seed: 7, Started: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), Harness: "test",
		Scenario: "tale", Provider: "local", Distribution: "reference", Judges: []string{"SV-06"}, Asked: []string{"SV-06"},
		Members: []history.MemberHeader{{Name: "cp1", ServerID: "id-1", Release: "1.2"}, {Name: "cp2", ServerID: "id-2", Release: "1.2"}},
	}
	if err := out.Encode(header); err != nil {
		t.Fatal(err)
	}
	for i, ev := range events {
		ev.Seq, ev.At = int64(i+1), int64(i+1)*int64(50*time.Millisecond)
		if len(events) > 1000 {
			ev.At /= 20
		}
		if err := out.Encode(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := buffered.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// told is what the report of a tale says.
func told() *report.ConformanceReport {
	return &report.ConformanceReport{
		Run: "tale", Date: "2026-11-20T10:00:00Z", Seed: 7, Harness: report.Harness{Version: "test"}, Scenario: "tale", Verdict: check.Fail, Complete: true, Events: 45,
		Target: report.Target{Provider: "local", Distribution: "reference", Members: []history.MemberHeader{{Name: "cp1", Release: "1.2"}, {Name: "cp2", Release: "1.2"}}},
		Doubts: []string{"nothing is as it seems"},
		Results: []check.Result{
			{ID: "SV-01", Level: "MUST", Promise: "The promise of SV-01.", Verdict: check.Pass, Observations: []check.Observation{{What: "servers", Seen: 3, Need: 1}}, Obligations: &law.Counts{Met: 3}},
			{ID: "SV-06", Level: "MUST", Promise: "The promise of SV-06.", Verdict: check.Fail, ViolationCount: 1, Observations: []check.Observation{{What: "looks", Seen: 3, Need: 1}},
				Violations: []check.Violation{{Message: "it was not so", Evidence: []int64{21, 9_999_999}}}},
		},
	}
}

func page(t testing.TB, dir string) []byte {
	t.Helper()
	html, err := Bundle(t.Context(), dir, told())
	if err != nil {
		t.Fatal(err)
	}
	return html
}

func pictureOf(t *testing.T, dir string) picture {
	t.Helper()
	c, err := collectFile(t.Context(), filepath.Join(dir, bundle.HistoryFile), told())
	if err != nil {
		t.Fatal(err)
	}
	return c.picture
}

func laneOf(p picture, name string) (lane, bool) {
	for _, g := range p.Groups {
		for _, l := range g.Lanes {
			if g.Name+", "+l.Name == name {
				return l, true
			}
		}
	}
	return lane{}, false
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}
