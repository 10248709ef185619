package scenario

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

// candidacies is an API server whose components declare themselves again once their candidates
// were deleted and were asked for a few times, unless they stay away.
type candidacies struct {
	all       []coordinationv1beta1.LeaseCandidate
	staysAway string
	deleted   []string
	asked     int
}

func newCandidacies(names ...string) *candidacies {
	c := &candidacies{}
	for _, name := range names {
		c.add(name, "kube-controller-manager", types.UID(name))
	}
	c.add("host-cp1_other", "kube-scheduler", "other")
	c.add("stranger", "kube-controller-manager", "stranger")
	return c
}

func (c *candidacies) add(name, lease string, uid types.UID) {
	k := coordinationv1beta1.LeaseCandidate{}
	k.Name, k.UID, k.Spec.LeaseName = name, uid, lease
	c.all = append(c.all, k)
}

func (c *candidacies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, candidatesPath), "/")
	if r.Method == http.MethodDelete {
		c.deleted = append(c.deleted, name)
		c.all = slices.DeleteFunc(c.all, func(k coordinationv1beta1.LeaseCandidate) bool { return k.Name == name })
		_, _ = w.Write([]byte("{}"))
		return
	}
	if c.asked++; c.asked == 3 {
		for _, name := range c.deleted {
			if name != c.staysAway {
				c.add(name, "kube-controller-manager", types.UID(name+" again"))
			}
		}
	}
	_ = json.NewEncoder(w).Encode(coordinationv1beta1.LeaseCandidateList{Items: c.all})
}

// hurried is a clock by which all that is waited for comes at once.
type hurried struct{ *testclock.FakeClock }

func (c hurried) NewTimer(d time.Duration) clock.Timer {
	timer := c.FakeClock.NewTimer(d)
	c.Step(d)
	return timer
}

// at plays the step at the API server.
func (c *candidacies) at(t *testing.T, of ...string) (*fakeHistory, error) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	h := newHistory()
	r := newRunner(newFake(), h)
	r.cluster = &served{newFake(), server.URL}
	r.Clock = hurried{testclock.NewFakeClock(time.Unix(0, 0))}
	return h, r.deleteCandidates(t.Context(), "cp1", &DeleteCandidates{Member: "cp1", Lease: "kube-controller-manager", Of: of})
}

func TestDeleteCandidates_WaitsUntilTheComponentsStandAgain(t *testing.T) {
	c := newCandidacies("host-cp1_a", "host-cp2_b", "host-cp3_c")
	h, err := c.at(t, "@cp1", "@cp3")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"host-cp1_a", "host-cp3_c"}; !slices.Equal(c.deleted, want) {
		t.Errorf("deleted %v, want %v", c.deleted, want)
	}
	if c.asked < 3 {
		t.Error("the step is over before the candidates are there again")
	}
	if told := h.notReached(); len(told) > 0 {
		t.Errorf("told %v", told)
	}
}

// Whether a component stands again is judged; the scenario goes on.
func TestDeleteCandidates_GoesOnWithoutThoseThatStayAway(t *testing.T) {
	c := newCandidacies("host-cp1_a", "host-cp2_b") // what runs on cp3 has none, and is not waited for
	c.staysAway = "host-cp1_a"
	h, err := c.at(t, "@all")
	if err != nil {
		t.Fatal(err)
	}
	told := h.notReached()
	if len(told) != 1 || !told[0].NotReached.Judged || !strings.Contains(told[0].NotReached.Message, "cp1") || strings.Contains(told[0].NotReached.Message, "cp2") || strings.Contains(told[0].NotReached.Message, "cp3") {
		t.Errorf("told %+v", told)
	}
}

func TestDeleteCandidates_WithoutAnyIsNotPlayed(t *testing.T) {
	c := newCandidacies("host-cp2_b")
	if _, err := c.at(t, "@cp1"); err == nil || !strings.Contains(err.Error(), "no candidate of cp1 stands") {
		t.Errorf("error %v", err)
	}
	if len(c.deleted) > 0 {
		t.Errorf("deleted %v", c.deleted)
	}
}
