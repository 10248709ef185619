package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

// leases is an API server that has one Lease, and refuses writes that others have overtaken.
type leases struct {
	mu       sync.Mutex
	lease    *coordinationv1.Lease
	revision int
	// status is what it answers to everything; 0 for the truth.
	status int
}

func (l *leases) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	status := l.status
	if status == 0 {
		status = l.serve(r)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	var body any = l.lease
	if status >= http.StatusBadRequest {
		reasons := map[int]string{http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusForbidden: "Forbidden"}
		body = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reasons[status], "message": "no"}
	}
	_ = json.NewEncoder(w).Encode(body) // the client is the test
}

func (l *leases) serve(r *http.Request) int {
	if !strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/"+TurnNamespace+"/leases") {
		return http.StatusForbidden
	}
	if r.Method == http.MethodGet {
		if l.lease == nil {
			return http.StatusNotFound
		}
		return http.StatusOK
	}
	written := &coordinationv1.Lease{}
	if err := json.NewDecoder(r.Body).Decode(written); err != nil {
		return http.StatusBadRequest
	}
	if r.Method == http.MethodPost && l.lease != nil || r.Method == http.MethodPut && (l.lease == nil || written.ResourceVersion != l.lease.ResourceVersion) {
		return http.StatusConflict
	}
	l.revision++
	written.ResourceVersion = strconv.Itoa(l.revision)
	l.lease = written
	return http.StatusOK
}

func (l *leases) answers(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

func (l *leases) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil || l.lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.lease.Spec.HolderIdentity
}

// serves gives how the API server is reached.
func serves(t *testing.T, l http.Handler) *rest.Config {
	t.Helper()
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// quickTurns are the times of tests.
var quickTurns = turnTimes{lease: 4 * time.Second, renew: 2 * time.Second, retry: 50 * time.Millisecond}

func turnOf(t *testing.T, identity string, said *heard, configs ...*rest.Config) *leaseTurn {
	t.Helper()
	turn, err := newLeaseTurn(configs, identity, quickTurns, clock.RealClock{}, said.Say)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// Two campaigns on one cluster never play at the same time, and alternate.
func TestTurn_TwoCampaignsAlternate(t *testing.T) {
	server := &leases{}
	config := serves(t, server)
	var mu sync.Mutex
	var order []string
	playing, said := 0, &heard{}
	var all sync.WaitGroup
	for _, who := range []string{"a", "b"} {
		turn := turnOf(t, who, said, config)
		all.Go(func() {
			for range 4 {
				_, give, err := turn.Take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if playing++; playing > 1 {
					t.Error("two play at the same time")
				}
				order = append(order, who)
				mu.Unlock()
				if got := server.holder(); got != who {
					t.Errorf("%s plays, and the Lease has %q", who, got)
				}
				mu.Lock()
				playing--
				mu.Unlock()
				give()
			}
		})
	}
	all.Wait()
	changes := 0
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1] {
			changes++
		}
	}
	if len(order) != 8 || changes < 4 {
		t.Errorf("they play in the order %v, and do not alternate", order)
	}
	if !contains(said.lines, "waiting for the cluster, which ") {
		t.Errorf("the user was not told: %q", said.lines)
	}
	if got := server.holder(); got != "" {
		t.Errorf("in the end %q has the Lease", got)
	}
}

// The turn outlasts an API server that goes away, and ends when none can be reached.
func TestTurn_IsLostWhenNoAPIServerTakesItsRenewals(t *testing.T) {
	store := &leases{}
	first, second := serves(t, store), serves(t, store)
	broken := &leases{status: http.StatusInternalServerError}
	held, give, err := turnOf(t, "a", &heard{}, serves(t, broken), first, second).Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer give()
	if store.holder() != "a" || held.Err() != nil {
		t.Fatalf("the Lease has %q, and the turn: %v", store.holder(), held.Err())
	}
	store.answers(http.StatusInternalServerError)
	select {
	case <-held.Done():
	case <-time.After(20 * quickTurns.lease):
		t.Error("the turn is held though nothing renews it")
	}
}

func TestTurn_SaysWhatTheCredentialsLack(t *testing.T) {
	_, _, err := turnOf(t, "a", &heard{}, serves(t, &leases{status: http.StatusForbidden})).Take(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the credentials in the topology have to allow get, create and update of Leases") {
		t.Errorf("error = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := turnOf(t, "a", &heard{}, serves(t, &leases{})).Take(ctx); err == nil {
		t.Error("a run takes its turn after the end")
	}
}

// counted is a turn that counts, and that is lost in the first run.
type counted struct{ taken, given int }

func (c *counted) Take(ctx context.Context) (context.Context, func(), error) {
	c.taken++
	held, lose := context.WithCancel(ctx)
	if c.taken == 1 {
		lose()
	}
	return held, func() { lose(); c.given++ }, nil
}

// A campaign takes a turn for each run, one at a time; a run that lost its turn is played again.
func TestCampaign_TakesATurnForEachRun(t *testing.T) {
	turn, player := &counted{}, &crowded{carries: 10}
	plan := planned(t, func(r *Request) { r.Scenarios, r.Repeat = []string{"restart-skew"}, 3 })
	rep, _ := playCampaign(t, plan, fakerun.Script{}, Options{Parallel: 3, Player: player, Turns: func(string) (Turn, error) { return turn, nil }})
	if rep.Runs.Kept != 3 || rep.Runs.Tries != 3 || player.most != 1 {
		t.Errorf("%+v, %d at a time", rep.Runs, player.most)
	}
	if turn.taken < 4 || turn.given != turn.taken {
		t.Errorf("%d turns were taken and %d given back, want one more than runs", turn.taken, turn.given)
	}
}
