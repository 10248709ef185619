package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// stale has the group-version be called stale, and empty, in the documents told since.
func (t *tale) stale(since int, group string) *tale {
	for _, ev := range t.events[since:] {
		d := ev.Document
		if d == nil || d.Listing == nil || d.Listing.Kind != listKind {
			continue
		}
		for _, g := range d.Listing.Groups {
			if g.Name == group {
				g.Versions[0].Freshness, g.Versions[0].Resources, g.Versions[0].Inventory = history.FreshnessStale, nil, "nothing"
				d.Content += " stale " + group
				d.ETag, d.Digest = d.Content, d.Content
			}
		}
	}
	return t
}

// A server that loses its etcd on the way answers with an error, and what it was asked
// for is done all the same. The harness asks again.
func TestAnErrorMayHaveDefinedSomething(t *testing.T) {
	lamps := lights + "/v1:lamps"
	for _, code := range []int{500, 503, 504} {
		told := lone().serves("lamps", 201, "v1").pass(time.Minute).polled("a", lamps)
		told.serves("lamps", code).pass(30*time.Millisecond).polled("a").pass(20*time.Millisecond).serves("lamps", 404)
		told.pass(11*time.Second).polled("a").blames(t, "AD-13")
		told = lone().serves("lamps", 201, "v1").serves("lamps", 200).pass(time.Minute).polled("a")
		told.serves("lamps", code, "v1").pass(30*time.Millisecond).polled("a", lamps).pass(20*time.Millisecond).serves("lamps", 200, "v1")
		told.pass(11*time.Second).polled("a", lamps).blames(t, "AD-13")
	}
	// It was not done, and was when it was asked again.
	lone().serves("lamps", 201, "v1").pass(time.Minute).serves("lamps", 500).serves("lamps", 200).pass(11*time.Second).
		polled("a", lamps).blames(t, "AD-13", "a still has lamps in lights.io/v1")
	// Who is refused has defined nothing.
	lone().serves("lamps", 201, "v1").pass(time.Minute).serves("lamps", 429).pass(11*time.Second).polled("a").
		blames(t, "AD-13", "a does not have lamps in lights.io/v1")
}

// A process that has just started has to ask aggregated servers first, however long ago
// the last change was; and what somebody else's dead server hosts is stale.
func TestAD25TakesTimeForAFetch(t *testing.T) {
	has := []string{tides + "/v1:flows", steady}
	up := func() *tale { return lone().hands(201).pass(5 * time.Minute) }
	look := func(t *tale) *tale {
		since := len(t.events)
		return t.looksAt("a", said{union: has, own: has}).stale(since, tides)
	}
	look(up().stops("a", 1).starts("a", 2).ready("a", 200, 6)).blames(t, "AD-25")
	look(up().froze("a", history.ProcessPaused).pass(time.Minute).froze("a", history.ProcessResumed).ready("a", 200, 6)).blames(t, "AD-25")
	look(up().stops("a", 1).starts("a", 2).ready("a", 200, 6).pass(71*time.Second)).blames(t, "AD-25", `a calls tides.io/v1 "Stale"`)

	somebodys := func(code int) *tale {
		told := lone().serves("lamps", 201, "v1").serves("lamps", 200).pass(5 * time.Minute)
		since := len(told.events)
		told.looksAt("a", said{union: has, own: has}).stale(since, tides)
		for _, ev := range told.events[since:] {
			if code != 200 && ev.Document.Path == groupsPath+"/"+tides+"/v1" {
				ev.Document.Code, ev.Document.Listing, ev.Document.Content = code, nil, ""
			}
		}
		return told
	}
	saw(t, somebodys(503).blames(t, "AD-25"), "quiet looks", 0)
	somebodys(200).blames(t, "AD-25", `a calls tides.io/v1 "Stale"`)
}

// What is changed while an aggregated server misbehaves shows before the answer is told.
func TestChangesDuringAMisbehaviourAreNoHarm(t *testing.T) {
	lamps := lights + "/v1:lamps"
	struck().hidden(func(t *tale) { t.serves("lamps", 201, "v1") }, func(t *tale) { t.polled("a", steady, lamps) }).blames(t, "AD-22")
	struck().polled("a", steady, lamps).pass(10*time.Second).blames(t, "AD-22", "a lists lights.io/v1, which nobody defined")

	never := func() *tale {
		return lone().does(1, history.BackendHang, history.PhaseInject).hands(201).does(1, history.BackendHang, history.PhaseWitness).pass(time.Minute)
	}
	both := func(t *tale) {
		since := len(t.events)
		t.polled("a", tides+"/v1:flows", "steady.io/v1:flows").stale(since, tides).stale(since, "steady.io")
	}
	never().hidden(func(t *tale) {
		t.hands(201).events[len(t.events)-1].Request.Defines.Group = "steady.io"
	}, both).blames(t, "AD-14")
	told := never()
	both(told)
	told.pass(10*time.Second).blames(t, "AD-14", `a calls steady.io/v1 "Stale", which it hosts itself`)
}

// What an aggregated server has said while it lied is listed until it is asked again.
func TestWhatAServerSaidMayBeListedUntilItIsAskedAgain(t *testing.T) {
	lied := said{union: []string{tides + "/v1:floods"}, own: []string{tides + "/v1:flows"}}
	for after, wrong := range map[time.Duration]bool{15 * time.Second: false, 71 * time.Second: true} {
		told := lone().hands(201).pass(time.Minute).does(1, history.BackendHuge, history.PhaseInject, history.PhaseWitness).pass(4 * time.Second)
		told.does(1, history.BackendHuge, history.PhaseHeal).pass(after).looksAt("a", lied)
		var lossless, converges []string
		if wrong {
			lossless, converges = []string{"a tells of tides.io/v1 at"}, []string{"a lists other resources in tides.io/v1"}
		}
		told.blames(t, "AD-10", lossless...)
		told.blames(t, "AD-25", converges...)
	}
}

// A server that never answers at one of the two paths is not proven right by the other,
// nor is one by a document that nobody was given to compare with.
func TestNoAnswerIsNoGoodAnswer(t *testing.T) {
	on := func(path string, fits func(*history.Document) bool) func(*history.Event) bool {
		return func(ev *history.Event) bool {
			return ev.Document != nil && ev.Document.Path == path && fits(ev.Document)
		}
	}
	accepts := func(part string) func(*history.Document) bool {
		return func(d *history.Document) bool { return strings.Contains(d.Accept, part) && d.IfNoneMatch == "" }
	}
	whatever := func(*history.Document) bool { return true }
	several := func(d *history.Document) bool { return strings.Contains(d.Accept, ",") }
	conditional := func(d *history.Document) bool { return d.IfNoneMatch != "" }
	const endpoint = "/apis/coordination.k8s.io/v1"
	for _, tc := range []struct {
		id   requirement.ID
		fits func(*history.Event) bool
		says string
	}{
		{"AD-01", on(groupsPath, accepts("protobuf")), "saw 0 aggregated documents in application/vnd.kubernetes.protobuf"},
		{"AD-02", on(groupsPath, func(d *history.Document) bool { return d.Accept == "" && d.IfNoneMatch == "" }), "saw 0 answers without a word"},
		{"AD-03", on(groupsPath, several), "saw 0 choices"},
		{"AD-04", on(groupsPath, several), "saw 0 answers in the form that was left"},
		{"AD-06", on(groupsPath, accepts("yaml")), "saw 0 documents in application/yaml"},
		{"AD-08", on(groupsPath, conditional), "saw 0 matching conditions"},
		{"AD-09", on(groupsPath, conditional), "saw 0 asterisks"},
		{"AD-02", on(endpoint, whatever), "was not seen to have an endpoint for coordination.k8s.io/v1"},
		{"AD-25", on(endpoint, whatever), "saw 0 quiet looks"},
	} {
		for _, code := range []int{0, 503} {
			header, told := kept(t, tc.id)
			told.each(tc.fits, func(ev *history.Event) {
				ev.Document.Code, ev.Document.Listing, ev.Document.Content, ev.Document.ETag = code, nil, "", ""
			})
			r := judgeFile(t, encoded(t, header, told), tc.id)
			if r.Verdict != Inconclusive || !strings.Contains(strings.Join(r.Reasons, "; "), tc.says) {
				t.Errorf("%s is %s with %d in the place of answers: %q %v", tc.id, r.Verdict, code, r.Reasons, r.Violations)
			}
		}
	}
}

// Which endpoints there are the recorder asks for once more. If that fails, it asks for
// none of the core group: what nobody asked for is not missing.
func TestAD02MissesNothingThatNobodyAskedFor(t *testing.T) {
	header, told := kept(t, "AD-02")
	told = told.without(func(ev *history.Event) bool { return ev.Document != nil && ev.Document.Path == "/api/v1" })
	if r := judgeFile(t, encoded(t, header, told), "AD-02"); r.Verdict != Inconclusive {
		t.Errorf("%s %q %v", r.Verdict, r.Reasons, r.Violations)
	}
}

// v2beta1 is to be served at both paths or at none.
func TestAD05LooksAtBothPaths(t *testing.T) {
	for _, path := range []string{corePath, groupsPath} {
		header, told := kept(t, "AD-05")
		told.each(func(ev *history.Event) bool {
			return ev.Document != nil && ev.Document.Path == path && slices.Equal(optionsOf(ev.Document.Accept), optionsOf(strings.Replace(askedJSON, "v=v2", "v=v2beta1", 1)))
		}, func(ev *history.Event) {
			if ev.Document.Code == 200 {
				ev.Document.Code, ev.Document.ContentType = 406, "application/json"
			}
		})
		if r := judgeFile(t, encoded(t, header, told), "AD-05"); r.Verdict != Fail {
			t.Errorf("%s: %s %q", path, r.Verdict, r.Reasons)
		}
	}
}

// The first moment is that of the first answer, whatever it is.
func TestAD15LooksAtTheFirstAnswer(t *testing.T) {
	lone().denies(404, 0).polled("a", steady).blames(t, "AD-15", "a was ready and answered 404 in the place of the document")
	const prompt = "right after it was ready"
	saw(t, lone().polled("a", steady).blames(t, "AD-15"), prompt, 1)
	saw(t, lone().denies(503, 0).pass(time.Second).polled("a", steady).blames(t, "AD-15"), prompt, 0)
	saw(t, lone().denies(0, 0).pass(time.Second).polled("a", steady).blames(t, "AD-15"), prompt, 1)
}
