package storageversion_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// rejoining is a Kubernetes in which a's second process, of the release, leaves
// the participants and joins again; its entry goes with that at revision 12.
func rejoining(release string) *historyBuilder {
	return restarting(release).leaves("a", 8).joins("a", 10).says(things, 12, "b="+v1)
}

// restarting is a Kubernetes in which a is stopped and its second process, of
// the release, is started.
func restarting(release string) *historyBuilder {
	told := newHistory().starts("a", 1).joins("a", 2).joins("b", 3).says(things, 5, "a="+v1, "b="+v1).hosts("a", 6)
	told.header.Distribution = "kubernetes"
	for _, p := range []history.Process{
		{Change: history.ProcessExited, Instance: 1, Expected: true},
		{Change: history.ProcessStarted, Instance: 2, Release: release},
	} {
		p.Component = history.ComponentAPIServer
		told.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &p})
	}
	return told
}

// back has the entry come back and the server be ready at the revisions, and
// then the least that SV-21 must see.
func (t *historyBuilder) back(entry, ready int64) *historyBuilder {
	t.pass(2 * time.Second) // no process writes as soon as it is started
	if entry < ready {
		t.says(things, entry, "a="+v2, "b="+v1).ready("a", 200, ready)
	} else {
		t.ready("a", 200, ready).says(things, entry, "a="+v2, "b="+v1)
	}
	t.hosts("a", 20)
	for i := range int64(5) {
		t.writes("a", v2, 30+i)
	}
	return t
}

func TestSV21_RejoiningIsADeviationOfKubernetes(t *testing.T) {
	const gone = "after its restart a has no entry in g.io.things at revision"
	for _, tc := range []struct {
		name     string
		told     *historyBuilder
		verdict  check.Verdict
		deviates int64    // how often
		blames   []string // what is no deviation
	}{
		{"as documented", rejoining("v1.35.4").back(14, 16), check.Deviation, 1, nil},
		{"as documented, and what came back is told late", rejoining("v1.35.4").ready("a", 200, 16).hosts("a", 16).back(14, 18), check.Deviation, 1, nil},
		{"as documented, and two entries", rejoining("v1.35.4").back(14, 16).says(things, 50, "a="+v2, "b="+v1, "a="+v2), check.Fail, 1, []string{"a has 2 entries"}},
		{"as documented, and gone for good", rejoining("v1.35.4").back(14, 16).says(things, 50, "b="+v1), check.Fail, 1, []string{gone + " 50"}},
		{"as documented, and a false agreement", rejoining("v1.35.4").back(14, 16).put(things, 50, wrongly(content("a="+v2, "b="+v1), v1)).writes("a", v2, 51), check.Fail, 1, []string{"calls g.io/v1 agreed"}},
		{"back when it was ready already", rejoining("v1.35.4").back(17, 16), check.Fail, 0, []string{gone + " 12"}},
		{"a release before the difference", rejoining("v1.34.4").back(14, 16), check.Fail, 0, []string{gone + " 12"}},
		{"a release that is not told", rejoining("").back(14, 16), check.Fail, 0, []string{gone + " 12"}},
		{"another distribution", of("reference", rejoining("v1.35.4").back(14, 16)), check.Fail, 0, []string{gone + " 12"}},
		{"strict", strictly(rejoining("v1.35.4").back(14, 16)), check.Fail, 0, []string{gone + " 12"}},
		{"not seen enough of", rejoining("v1.35.4").says(things, 14, "a="+v2, "b="+v1).ready("a", 200, 16).hosts("a", 20), check.Inconclusive, 1, nil},
		{"after something was missed", func() *historyBuilder {
			told := rejoining("v1.35.4").gap("etcd")
			return told.back(14, 16)
		}(), check.Inconclusive, 0, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.told.judge(t, "SV-21")[0]
			if r.Verdict != tc.verdict {
				t.Errorf("verdict %s, want %s (%q)", r.Verdict, tc.verdict, r.Reasons)
			}
			var blamed []string
			for _, v := range r.Violations {
				blamed = append(blamed, v.Message)
			}
			if !slices.EqualFunc(blamed, tc.blames, strings.Contains) || r.ViolationCount != int64(len(tc.blames)) {
				t.Errorf("blames %q, want %q", blamed, tc.blames)
			}
			switch {
			case tc.deviates == 0 && len(r.Deviations) > 0:
				t.Errorf("deviates: %+v", r.Deviations)
			case tc.deviates > 0 && (len(r.Deviations) != 1 || r.Deviations[0].ID != "rejoins-at-start" || r.Deviations[0].Count != tc.deviates || len(r.Deviations[0].Examples) != 1):
				t.Errorf("deviates: %+v, want %d times", r.Deviations, tc.deviates)
			}
		})
	}
}

func of(distribution string, told *historyBuilder) *historyBuilder {
	told.header.Distribution = distribution
	return told
}

func strictly(told *historyBuilder) *historyBuilder { told.header.Strict = true; return told }

// Without a new Lease the server has not left, so that what takes its entry out
// is no part of joining anew.
func TestSV21_ServerThatHasNotRejoinedDoesNotDeviate(t *testing.T) {
	r := restarting("v1.35.4").says(things, 12, "b="+v1).back(14, 16).judge(t, "SV-21")[0]
	if r.Verdict != check.Fail || len(r.Deviations) > 0 {
		t.Errorf("%s, %+v", r.Verdict, r.Deviations)
	}
}
