package discovery_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// Members of one release have the same documents when all is quiet. In which order they
// list things is AD-12's, and another release may host something else.
func TestAD25ComparesMembers(t *testing.T) {
	everything := append(slices.Clone(newer), "z.io/v1:masts")
	around := slices.Clone(everything)
	slices.Reverse(around)
	fewer := everything[:2]
	for name, tc := range map[string]struct {
		of   string
		has  []string
		want []string
	}{
		"the same":                     {of: "b", has: everything},
		"in another order":             {of: "b", has: around},
		"one less":                     {of: "b", has: fewer, want: []string{"a and b, which run the same release, have different documents"}},
		"one less, in another release": {of: "c", has: fewer},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute)
			for _, ev := range told.events {
				if ev.Member == "c" && ev.Process != nil {
					ev.Process.Release = "0"
				}
			}
			told.looksAt("a", said{union: everything, local: everything, own: everything})
			told.looksAt(tc.of, said{union: tc.has, local: tc.has, own: tc.has})
			told.blames(t, "AD-25", tc.want...)
		})
	}
}

// What is listed as current is there, unless an aggregated server would have to answer.
func TestAD25WantsWhatIsListedToBeThere(t *testing.T) {
	has := []string{"x.io/v1:ships", tides + "/v1:flows"}
	lone().hands(201).pass(time.Minute).looksAt("a", said{union: has, denied: []string{"x.io/v1", tides + "/v1"}}).
		blames(t, "AD-25", "a lists tides.io/v1, but not in", "a lists x.io/v1, but not in")
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
	// A refused request defines nothing.
	lone().serves("lamps", 201, "v1").pass(time.Minute).serves("lamps", 429).pass(11*time.Second).polled("a").
		blames(t, "AD-13", "a does not have lamps in lights.io/v1")
}

// A process that has just started has to fetch from aggregated servers first, however long
// ago the last change was. Group-versions of a dead server that the harness did not create
// are stale.
func TestAD25TakesTimeForAFetch(t *testing.T) {
	has := []string{tides + "/v1:flows", steady}
	up := func() *historyBuilder { return lone().hands(201).pass(5 * time.Minute) }
	look := func(t *historyBuilder) *historyBuilder {
		since := len(t.events)
		return t.looksAt("a", said{union: has, own: has}).stale(since, tides)
	}
	look(up().stops("a", 1).starts("a", 2).ready("a", 200, 6)).blames(t, "AD-25")
	look(up().froze("a", history.ProcessPaused).pass(time.Minute).froze("a", history.ProcessResumed).ready("a", 200, 6)).blames(t, "AD-25")
	look(up().stops("a", 1).starts("a", 2).ready("a", 200, 6).pass(71*time.Second)).blames(t, "AD-25", `a calls tides.io/v1 "Stale"`)

	somebodys := func(code int) *historyBuilder {
		told := lone().serves("lamps", 201, "v1").serves("lamps", 200).pass(5 * time.Minute)
		since := len(told.events)
		told.looksAt("a", said{union: has, own: has}).stale(since, tides)
		for _, ev := range told.events[since:] {
			if code != 200 && ev.DiscoveryDocument.Path == groupsPath+"/"+tides+"/v1" {
				ev.DiscoveryDocument.Code, ev.DiscoveryDocument.Listing, ev.DiscoveryDocument.Content = code, nil, ""
			}
		}
		return told
	}
	saw(t, somebodys(503).blames(t, "AD-25"), "quiet looks", 0)
	somebodys(200).blames(t, "AD-25", `a calls tides.io/v1 "Stale"`)
}

// What is changed while an aggregated server misbehaves shows before the answer is told.
func TestChangesDuringAMisbehaviorAreNoHarm(t *testing.T) {
	lamps := lights + "/v1:lamps"
	struck().hidden(func(t *historyBuilder) { t.serves("lamps", 201, "v1") }, func(t *historyBuilder) { t.polled("a", steady, lamps) }).blames(t, "AD-22")
	struck().polled("a", steady, lamps).pass(10*time.Second).blames(t, "AD-22", "a lists lights.io/v1, which was never defined")

	never := func() *historyBuilder {
		return lone().does(1, history.BackendHang, history.PhaseInject).hands(201).does(1, history.BackendHang, history.PhaseWitness).pass(time.Minute)
	}
	both := func(t *historyBuilder) {
		since := len(t.events)
		t.polled("a", tides+"/v1:flows", "steady.io/v1:flows").stale(since, tides).stale(since, "steady.io")
	}
	never().hidden(func(t *historyBuilder) {
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

// Answers at one of the two paths do not make up for a server that never answers at the
// other. A document without a counterpart to compare with proves nothing.
func TestNoAnswerIsNoGoodAnswer(t *testing.T) {
	on := func(path string, fits func(*history.DiscoveryDocument) bool) func(*history.Event) bool {
		return func(ev *history.Event) bool {
			return ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Path == path && fits(ev.DiscoveryDocument)
		}
	}
	accepts := func(part string) func(*history.DiscoveryDocument) bool {
		return func(d *history.DiscoveryDocument) bool {
			return strings.Contains(d.Accept, part) && d.IfNoneMatch == ""
		}
	}
	whatever := func(*history.DiscoveryDocument) bool { return true }
	several := func(d *history.DiscoveryDocument) bool { return strings.Contains(d.Accept, ",") }
	conditional := func(d *history.DiscoveryDocument) bool { return d.IfNoneMatch != "" }
	const endpoint = "/apis/coordination.k8s.io/v1"
	for _, tc := range []struct {
		id   requirement.ID
		fits func(*history.Event) bool
		says string
	}{
		{"AD-01", on(groupsPath, accepts("protobuf")), "saw 0 aggregated documents in protobuf at /apis"},
		{"AD-02", on(groupsPath, func(d *history.DiscoveryDocument) bool { return d.Accept == "" && d.IfNoneMatch == "" }), "saw 0 answers without a word"},
		{"AD-03", on(groupsPath, several), "saw 0 choices"},
		{"AD-04", on(groupsPath, several), "saw 0 answers in the form that was left"},
		{"AD-06", on(groupsPath, accepts("yaml")), "saw 0 documents in YAML compared with JSON at /apis"},
		{"AD-08", on(groupsPath, conditional), "saw 0 matching conditions"},
		{"AD-09", on(groupsPath, conditional), "saw 0 asterisks"},
		{"AD-02", on(endpoint, whatever), "was not seen to have an endpoint for coordination.k8s.io/v1"},
		{"AD-25", on(endpoint, whatever), "saw 0 quiet looks"},
	} {
		for _, code := range []int{0, 503} {
			r := edited(t, tc.id, func(e *story.Edit) {
				e.Each(tc.fits, func(ev *history.Event) {
					ev.DiscoveryDocument.Code, ev.DiscoveryDocument.Listing, ev.DiscoveryDocument.Content, ev.DiscoveryDocument.ETag = code, nil, "", ""
				})
			})
			if r.Verdict != check.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "; "), tc.says) {
				t.Errorf("%s is %s with %d in the place of answers: %q %v", tc.id, r.Verdict, code, r.Reasons, r.Violations)
			}
		}
	}
}

// The recorder requests the list of endpoints once more. If that fails, it requests none of
// the core group: an endpoint that the recorder did not request is not missing.
func TestAD02MissesNoEndpointThatWasNotRequested(t *testing.T) {
	r := edited(t, "AD-02", func(e *story.Edit) {
		e.Drop(func(ev *history.Event) bool {
			return ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Path == "/api/v1"
		})
	})
	if r.Verdict != check.Inconclusive {
		t.Errorf("%s %q %v", r.Verdict, r.Reasons, r.Violations)
	}
}

// v2beta1 is to be served at both paths or at none.
func TestAD05LooksAtBothPaths(t *testing.T) {
	for _, path := range []string{corePath, groupsPath} {
		r := edited(t, "AD-05", func(e *story.Edit) {
			e.Each(func(ev *history.Event) bool {
				return ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Path == path && ev.DiscoveryDocument.Accept == strings.Replace(askedJSON, "v=v2", "v=v2beta1", 1) && ev.DiscoveryDocument.Code == 200
			}, func(ev *history.Event) {
				ev.DiscoveryDocument.Code, ev.DiscoveryDocument.ContentType = 406, "application/json"
			})
		})
		if r.Verdict != check.Fail {
			t.Errorf("%s: %s %q", path, r.Verdict, r.Reasons)
		}
	}
}

// The first moment is that of the first answer, whatever it is.
func TestAD15LooksAtTheFirstAnswer(t *testing.T) {
	lone().denies(404, 0).polled("a", steady).blames(t, "AD-15", "a was ready and answered 404 in the place of the document")
	lone().denies(500, 0).ready("a", 200, 6).polled("a", steady).blames(t, "AD-15", "a was ready and answered 500 in the place of the document")
	lone().denies(504, 0).ready("a", 200, 6).polled("a", steady).blames(t, "AD-15")
	faulty := lone()
	for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
		faulty.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "slow", Type: "IOChaos", Action: "latency", Phase: phase, Proof: "slow"}})
	}
	faulty.denies(500, 0).ready("a", 200, 6).polled("a", steady).blames(t, "AD-15")
	const prompt = "given right after the server was ready"
	saw(t, lone().polled("a", steady).blames(t, "AD-15"), prompt, 1)
	saw(t, lone().denies(503, 0).pass(time.Second).polled("a", steady).blames(t, "AD-15"), prompt, 0)
	saw(t, lone().denies(0, 0).pass(time.Second).polled("a", steady).blames(t, "AD-15"), prompt, 1)
}

// A member that was busy when it was ready owes in the first document what it did at once.
func TestAD15_ABusyMemberOwesAWholeDocument(t *testing.T) {
	lamps := lights + "/v1:lamps"
	for name, c := range map[string]struct {
		first []string
		want  []string
	}{"it is whole": {[]string{steady, lamps}, nil}, "it lacks what was defined": {[]string{steady}, []string{"a was ready and does not have lamps in lights.io/v1, which was defined before it started"}}} {
		t.Run(name, func(t *testing.T) {
			told := lone().serves("lamps", 201, "v1").pass(time.Minute).stops("a", 1).starts("a", 2).ready("a", 200, 6)
			told.denies(503, 10*time.Millisecond).polled("a", c.first...).pass(time.Second).polled("a", steady, lamps).blames(t, "AD-15", c.want...)
		})
	}
}

// edited judges the story that passes a requirement, after an edit.
func edited(t *testing.T, id requirement.ID, edit func(*story.Edit)) check.Result {
	t.Helper()
	s := story.Named(stories.All(), string(id)+"/pass").With("edited", story.Pass, edit).Whole()
	return judgetest.Judge(t, &judgetest.Events{Head: s.Header(), Lines: s.Events()}, id)
}
