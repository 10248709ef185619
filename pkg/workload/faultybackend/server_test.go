package faultybackend

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const group = "tides.example.com"

func start(t *testing.T) (*Server, *http.Client) {
	t.Helper()
	s, err := Start("localhost", group, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // G402: the server makes its own certificate.
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s, client
}

func get(ctx context.Context, s *Server, client *http.Client, path string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://%s:%d%s", s.Host(), s.Port(), path), nil)
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func TestAHealthyServerTellsOfItsResource(t *testing.T) {
	s, client := start(t)
	if s.Group() != group {
		t.Errorf("the group is %s", s.Group())
	}
	for path, want := range map[string]int{"/apis": 200, "/apis/" + group + "/v1": 200, "/healthz": 404} {
		code, body, err := get(t.Context(), s, client, path)
		if err != nil || code != want || !json.Valid([]byte(body)) || want == 200 && !strings.Contains(body, Resource) {
			t.Errorf("%s: %d %v %s", path, code, err, body)
		}
	}
}

// As a server on an older library: it refuses who takes nothing but the aggregated form.
func TestServer_SpeaksUnaggregatedDiscoveryAlone(t *testing.T) {
	s, client := start(t)
	s.SpeakUnaggregated(true)
	for _, tc := range []struct {
		path, accept string
		code         int
		body         string
	}{
		{"/apis", aggregatedType, 406, "no aggregated discovery"},
		{"/apis", aggregatedType + ",application/json", 200, "APIGroupList"},
		{"/apis", "", 200, "v1alpha1"},
		{"/apis/" + group + "/v1beta1", "application/json", 200, Resource},
		{"/apis/" + group + "/v2", "application/json", 404, "nothing here"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s:%d%s", s.Host(), s.Port(), tc.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", tc.accept)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != tc.code || !strings.Contains(string(body), tc.body) {
			t.Errorf("%s %q: %d %s %v", tc.path, tc.accept, response.StatusCode, body, err)
		}
	}
	s.SpeakUnaggregated(false)
	if code, body, err := get(t.Context(), s, client, "/apis"); err != nil || code != 200 || !strings.Contains(body, "APIGroupDiscoveryList") || !strings.Contains(body, "v1alpha1") {
		t.Errorf("upgraded: %d %s %v", code, body, err)
	}
}

// As a server that is written without the library (kubernetes/kubernetes#119662).
func TestServer_HidesItsListOfGroups(t *testing.T) {
	s, client := start(t)
	for _, hidden := range []bool{true, false} {
		s.HideGroups(hidden)
		code, body, err := get(t.Context(), s, client, "/apis")
		if err != nil || (code == http.StatusNotFound) != hidden {
			t.Errorf("hidden %v: %d %s %v", hidden, code, body, err)
		}
		if code, body, err := get(t.Context(), s, client, "/apis/"+group+"/v1"); err != nil || code != http.StatusOK || !strings.Contains(body, Resource) {
			t.Errorf("hidden %v: the group-version gives %d %s %v", hidden, code, body, err)
		}
	}
}

func TestServer_EveryMisbehaviorIsProved(t *testing.T) {
	for _, tc := range []struct {
		behavior string
		code     int    // 0 if there is no answer
		body     string // part of it
		never    bool   // whether the answer has no end
	}{
		{history.BackendRefuse, 0, "", false},
		{history.BackendHang, 0, "", true},
		{history.BackendUnavailable, 503, "", false},
		{history.BackendReset, 0, "", false},
		{history.BackendGarbage, 200, `"name":7`, false},
		{history.BackendWrongGroups, 200, "coordination.k8s.io", false},
		{history.BackendNotModified, 304, "", false},
		{history.BackendSlowBody, 0, "", true},
		{history.BackendHuge, 200, Resource + "100", false},
	} {
		t.Run(tc.behavior, func(t *testing.T) {
			t.Parallel()
			s, client := start(t)
			if err := s.Behave(tc.behavior); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.never {
				// A client that waits for the answer is cut off when the server behaves again.
				go func() {
					if _, err := s.Bitten(ctx, 1); err == nil {
						_ = s.Behave(healthy)
					}
				}()
			}
			code, body, err := get(ctx, s, client, "/apis")
			if tc.code == 0 && err == nil || tc.code != 0 && (err != nil || code != tc.code || !strings.Contains(body, tc.body)) {
				t.Errorf("%d %v %.200s", code, err, body)
			}
			if tc.never {
				return
			}
			proof, err := s.Bitten(ctx, 1)
			if err != nil || !strings.Contains(proof, group) {
				t.Errorf("%q %v", proof, err)
			}
			if err := s.Behave(healthy); err != nil {
				t.Fatal(err)
			}
			if code, _, err := get(ctx, s, client, "/apis"); err != nil || code != 200 {
				t.Errorf("it does not recover: %d %v", code, err)
			}
		})
	}
	if len(Behaviors()) != 9 {
		t.Errorf("there are %d misbehaviors; test each of them", len(Behaviors()))
	}
}

// No other process gets the port meanwhile, neither by its number nor as a free port.
func TestServer_KeepsItsPortWhileItRefuses(t *testing.T) {
	s, _ := start(t)
	if err := s.Behave(history.BackendRefuse); err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(s.Host(), strconv.Itoa(s.Port()))
	if other, err := net.Listen("tcp", address); err == nil {
		_ = other.Close()
		t.Errorf("another listener got %s", address)
	}
	if _, err := s.Bitten(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the port is not given back: %v", err)
	}
	_ = other.Close()
}

func TestBitten_NeedsARequest(t *testing.T) {
	s, _ := start(t)
	if err := s.Behave("sulk"); err == nil {
		t.Error("an unknown misbehavior is accepted")
	}
	if err := s.Behave(history.BackendHang); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if proof, err := s.Bitten(ctx, 1); err == nil {
		t.Errorf("there is the proof %q", proof)
	}
}

// As a server that is upgraded: what it hosts is another, in both forms, and so is its tag.
func TestServer_GrowsAndIsAsBefore(t *testing.T) {
	s, client := start(t)
	tag := ""
	conditional := func(want int) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s:%d/apis", s.Host(), s.Port()), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("If-None-Match", tag)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if tag = response.Header.Get("ETag"); response.StatusCode != want || tag == "" {
			t.Errorf("%d with the tag %q, want %d", response.StatusCode, tag, want)
		}
	}
	conditional(200)
	conditional(304)
	for _, grown := range []bool{true, false} {
		if hosts := s.Grow(grown); slices.Contains(hosts, ebbs.plural) != grown {
			t.Errorf("it hosts %v", hosts)
		}
		for _, path := range []string{"/apis", "/apis/" + group + "/v1", "/apis/" + group + "/v1beta1"} {
			if _, body, err := get(t.Context(), s, client, path); err != nil || strings.Contains(body, ebbs.plural) != grown {
				t.Errorf("%s: %s %v", path, body, err)
			}
		}
		conditional(200)
		conditional(304)
	}
}
