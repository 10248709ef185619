package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
)

func TestRandomFaults_InvalidFieldsAreRefused(t *testing.T) {
	whole := func() *RandomFaults {
		return &RandomFaults{Faults: []string{"a"}, Leases: []string{"x", "y"}, LeaderChanges: 1, MinDuration: time.Second, MaxDuration: time.Second, Timeout: time.Minute}
	}
	for want, spoil := range map[string]func(*RandomFaults){
		"faults and leases":         func(s *RandomFaults) { s.Leases = nil },
		"leaderChanges and timeout": func(s *RandomFaults) { s.Timeout = 0 },
		"maxDuration not less":      func(s *RandomFaults) { s.MaxDuration = time.Millisecond },
		"named twice":               func(s *RandomFaults) { s.Leases = []string{"x", "x"} },
	} {
		step := whole()
		spoil(step)
		if err := step.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %q", err, want)
		}
	}
	if err := whole().validate(); err != nil {
		t.Error(err)
	}
	crash := fault.Fault{Type: fault.TypePod, Action: "container-kill", Effect: fault.Kill{}, Member: fault.StepMember}
	for want, spoil := range map[string]func(*fault.Fault){
		"":                 func(*fault.Fault) {},
		"neither kills":    func(f *fault.Fault) { f.Effect = fault.LinkFault{Link: cluster.LinkEtcd} },
		"spec.duration":    func(f *fault.Fault) { f.Duration = time.Second },
		"the member @cp1 ": func(f *fault.Fault) { f.Member = "@cp1" },
	} {
		named := crash
		spoil(&named)
		err := whole().fits(&named)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, without %q", err, want)
		}
	}
}

// leased is a cluster with a Lease whose holder renews it before each read. The Lease gets
// another holder each time that the step has killed an API server.
type leased struct {
	*fakeCluster
	url string
}

func (l leased) ClientConfig(string, bool) (*rest.Config, error) {
	return &rest.Config{Host: l.url}, nil
}

func (l leased) kills() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(l.calls), func(call string) bool { return !strings.HasPrefix(call, "kill") }))
}

func newLeased(t *testing.T, lease func(l leased, look int) coordinationv1.LeaseSpec) leased {
	l := leased{fakeCluster: newFake()}
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		l.process[name] = cluster.Process{PID: 7, StartTime: 7}
	}
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch request.URL.Path {
		case leasesPath:
		case leaderLease:
			looks++
			_ = json.NewEncoder(w).Encode(coordinationv1.Lease{Spec: lease(l, looks)})
			return
		default:
			return // of all else it is enough that it answers
		}
		looks++
		_ = json.NewEncoder(w).Encode(coordinationv1.LeaseList{Items: []coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: lease(l, looks)}}})
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func renewedAt(look int) *metav1.MicroTime {
	return ptr.To(metav1.NewMicroTime(time.Unix(int64(look), 0)))
}

func TestRandomFaults_SameSeedPlaysTheSameFaults(t *testing.T) {
	hosts := []string{"host-cp1_a", "host-cp2_b", "host-cp3_c"}
	play := func() (calls []string) {
		l := newLeased(t, func(l leased, look int) coordinationv1.LeaseSpec {
			return coordinationv1.LeaseSpec{HolderIdentity: &hosts[l.kills()%len(hosts)], RenewTime: renewedAt(look)}
		})
		r := newRunner(l.fakeCluster, newHistory())
		r.Clock = clock.RealClock{}
		r.cluster = l
		r.faults = fault.NewExecutor(l, fault.NewAPI(r.directConfig, r.Clock), r.History, r.Clock)
		step := &RandomFaults{Faults: []string{"crash.yaml"}, Leases: []string{"x"}, LeaderChanges: 3, MinDuration: time.Millisecond, MaxDuration: 5 * time.Millisecond}
		if err := r.randomFaults(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		return l.calls
	}
	calls := play()
	if len(calls) != 6 || !strings.HasPrefix(calls[0], "kill") || !strings.HasPrefix(calls[1], "start") {
		t.Errorf("three elections took %v", calls)
	}
	if again := play(); !slices.Equal(again, calls) {
		t.Errorf("the same seed gave %v and then %v", calls, again)
	}
}

// A holder that does not renew the Lease does not lead, and the run must not go on.
func TestRandomFaults_FailsWithoutALeader(t *testing.T) {
	l := newLeased(t, func(leased, int) coordinationv1.LeaseSpec {
		return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp1_a"), RenewTime: renewedAt(1)}
	})
	r := newRunner(l.fakeCluster, newHistory())
	r.Clock = clock.RealClock{}
	r.cluster = l
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := r.led(ctx, []string{"x"}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no instance has led by x") {
		t.Errorf("%v", err)
	}
}
