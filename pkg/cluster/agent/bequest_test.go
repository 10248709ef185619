//go:build linux

package agent

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// ownerServer is an API server that is asked to delete the owner of what a run has made. It gives each of its answers
// once, and the last one for ever.
type ownerServer struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	asked    []string
}

func serveOwner(t *testing.T, statuses ...int) *ownerServer {
	t.Helper()
	s := &ownerServer{statuses: statuses}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), raw))
		status := s.statuses[0]
		s.statuses = s.statuses[min(1, len(s.statuses)-1):]
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		reason := map[int]string{http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden"}[status]
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","code":%d,"reason":%q,"status":%q}`, status, reason, map[bool]string{true: "Success", false: "Failure"}[status < 300])
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *ownerServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// isTrial is whether a request changes nothing, in JSON or in protobuf.
func isTrial(asked string) bool { return strings.Contains(asked, metav1.DryRunAll) }

// awaitTrial waits until the server was asked whether it would.
func (s *ownerServer) awaitTrial(t *testing.T) {
	t.Helper()
	eventually(t, "a trial", func() bool { asked := s.requests(); return len(asked) > 0 && isTrial(asked[0]) })
}

func (s *ownerServer) seen() APIServer {
	return APIServer{URL: s.URL, CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}
}

func always() bool { return true }

func bequestTo(servers ...APIServer) *Bequest {
	return &Bequest{Owner: "evenkeel-r1", UID: "u1", Token: "t", Servers: servers}
}

// A run whose harness was killed leaves nothing in the cluster: its agents delete what owns all of
// it, and no other one of that name.
func TestService_RemovesWhatARunHasMadeIfItsHarnessFallsSilent(t *testing.T) {
	deaf, server := serveOwner(t, http.StatusServiceUnavailable), serveOwner(t, http.StatusOK)
	a := serveInstalled(t, configured(t, cluster.RungDisrupt, "none"), nil)
	if err := a.client("r1").Renew(t.Context(), bequestTo(deaf.seen(), server.seen())); err != nil {
		t.Fatal(err)
	}
	// A renewal that was sent before may arrive after it.
	if err := a.client("r1").Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if a.session.left().Token != "t" {
		t.Errorf("it keeps %+v", a.session.left())
	}
	a.clock.Step(SilenceBound + silencePoll)
	server.awaitTrial(t)
	if err := a.awaitEndInTime(); err != nil {
		t.Errorf("it has ended with %v", err)
	}
	asked := server.requests()
	if len(deaf.requests()) == 0 || len(asked) != 2 || !strings.HasPrefix(asked[1], "DELETE /apis/rbac.authorization.k8s.io/v1/clusterroles/evenkeel-r1 Bearer t ") || !strings.Contains(asked[1], "u1") || isTrial(asked[1]) {
		t.Errorf("the servers were asked %q and %q", deaf.requests(), asked)
	}
}

// A node that was frozen, or cut off by a hook, has heard nothing of a harness that lives. What its
// run has made stays: that it goes in the middle of a run would be taken for a defect.
func TestService_RemovesNothingIfItsHarnessIsHeardAgain(t *testing.T) {
	server := serveOwner(t, http.StatusOK)
	a := serveInstalled(t, configured(t, cluster.RungDisrupt, "none"), nil)
	client := a.client("r1")
	if err := client.Renew(t.Context(), bequestTo(server.seen())); err != nil {
		t.Fatal(err)
	}
	a.clock.Step(SilenceBound + silencePoll)
	server.awaitTrial(t)
	if err := client.Renew(t.Context(), nil); err != nil {
		t.Fatalf("it does not listen any more: %v", err)
	}
	if err := client.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}); err == nil || a.filter.cuts != 0 {
		t.Errorf("an agent that ends cuts its node off: %v", err)
	}
	if err := a.awaitEndInTime(); err != nil {
		t.Errorf("it has ended with %v", err)
	}
	for _, one := range server.requests() {
		if !isTrial(one) {
			t.Errorf("the server was asked %q", one)
		}
	}
}

// What a harness has left is forgotten when its session ends, and the next one begins without it.
func TestService_RemovesNothingOfARunThatHasEnded(t *testing.T) {
	server := serveOwner(t, http.StatusOK)
	a := serveInstalled(t, configured(t, cluster.RungDisrupt, "none"), nil)
	first := a.client("r1")
	if err := first.Renew(t.Context(), bequestTo(server.seen())); err != nil {
		t.Fatal(err)
	}
	if err := first.Leave(t.Context()); err != nil || a.session.left() != nil {
		t.Fatalf("%v, it keeps %+v", err, a.session.left())
	}
	if err := a.client("r2").Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	a.clock.Step(SilenceBound + silencePoll)
	if err := a.awaitEnd(); err != nil || len(server.requests()) != 0 {
		t.Errorf("it has ended with %v, having asked for %q", err, server.requests())
	}
}

func TestBequest_IsDoneWhenTheOwnerGoes(t *testing.T) {
	for status, done := range map[int]bool{
		http.StatusOK: true, http.StatusNotFound: true,
		http.StatusConflict:  true,                                  // another one has its name
		http.StatusForbidden: false, http.StatusUnauthorized: false, // it may be a server that starts
		http.StatusServiceUnavailable: false,
	} {
		server := serveOwner(t, status)
		b := bequestTo(server.seen())
		for _, trial := range []bool{true, false} {
			if err := b.deleteBy(t.Context(), b.Servers[0], trial); (err == nil) != done {
				t.Errorf("after the answer %d: %v", status, err)
			}
		}
	}
}

// The agent that is first takes the right of the others along.
func TestBequest_IsDoneWhenAllAPIServersRefuseIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal, asked := apierrors.NewForbidden(schema.GroupResource{}, "evenkeel-r1", nil), 0
		err := bequestTo(APIServer{URL: "one"}).carryOut(t.Context(), slog.New(slog.DiscardHandler), func(context.Context, APIServer, bool) error {
			if asked++; asked == 3 {
				return errors.New("away")
			}
			return refusal
		}, clock.RealClock{}, always)
		if err != nil || asked != 3+bequestRefusals {
			t.Errorf("it was asked for %d times, and ended with %v", asked, err)
		}
	})
}

// Where the harness reaches API servers through a tunnel, its addresses lead nowhere from a node.
func TestBequest_IsCarriedOutThroughTheServiceWhereNoAddressLeadsToAServer(t *testing.T) {
	silent, server := serveOwner(t, http.StatusServiceUnavailable), serveOwner(t, http.StatusOK)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", at.Hostname())
	t.Setenv("KUBERNETES_SERVICE_PORT", at.Port())
	nowhere := APIServer{URL: "https://127.0.0.1:1", CA: server.seen().CA}
	b := bequestTo(nowhere)
	bounded, end := context.WithTimeout(t.Context(), bequestAttempt)
	defer end()
	if done, err := b.anyServer(bounded, slog.New(slog.DiscardHandler), b.deleteBy, false); err != nil || !done || len(server.requests()) != 1 {
		t.Errorf("%t, %v, it was asked %q", done, err, server.requests())
	}
	// One that answers is waited for, even if it cannot yet.
	b = bequestTo(silent.seen(), nowhere)
	ctx, cancel := context.WithTimeout(t.Context(), bequestRetry/2)
	defer cancel()
	if done, err := b.anyServer(ctx, slog.New(slog.DiscardHandler), b.deleteBy, false); err == nil || done || len(server.requests()) != 1 {
		t.Errorf("%t, %v, it was asked %q", done, err, server.requests())
	}
}

func TestBequest_IsTriedUntilAnAPIServerTakesIt(t *testing.T) {
	for _, tc := range []struct {
		name    string
		back    time.Duration
		problem string
	}{
		{"at once", 0, ""},
		{"when it is back", 20 * time.Second, ""},
		{"never", time.Hour, "remove the ClusterRole evenkeel-r1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := bequestTo(APIServer{URL: "one"}, APIServer{URL: "two"}).carryOut(t.Context(), slog.New(slog.DiscardHandler), func(_ context.Context, server APIServer, _ bool) error {
					if server.URL == "two" && time.Since(began) >= tc.back {
						return nil
					}
					return errors.New(server.URL + " is away")
				}, clock.RealClock{}, always)
				took, least := time.Since(began), min(tc.back+hearingBound, bequestBound)
				if took < least || took > min(least+bequestRetry, bequestBound) {
					t.Errorf("it took %s", took)
				}
				if tc.problem == "" && err != nil || tc.problem != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.problem) || !strings.Contains(err.Error(), "two is away")) {
					t.Errorf("it has ended with %v, want %q", err, tc.problem)
				}
			})
		})
	}
}
