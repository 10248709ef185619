package faultybackend

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
)

// A flapping server goes through all that it does in one period, and begins again.
func TestServer_FlapsOncePerPeriod(t *testing.T) {
	s, client := start(t)
	clk := testclock.NewFakeClock(time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Flap(ctx, clk, time.Duration(len(flaps))*time.Second) }()
	// doing waits until the server does the turn, and gives what clients get then.
	doing := func(turn int) int {
		for {
			s.mu.Lock()
			now := s.behavior
			s.mu.Unlock()
			code, _, err := get(ctx, s, client, "/apis")
			if err != nil {
				code = 0
			}
			if now == flaps[turn%len(flaps)] && code == codeOf(now) {
				return code
			}
			if t.Context().Err() != nil {
				return -1
			}
		}
	}
	var got []int
	for turn := range len(flaps) + 1 {
		got = append(got, doing(turn))
		clk.Step(time.Second)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if want := []int{200, 404, 200, 500, 200, 0, 200}; !slices.Equal(got, want) {
		t.Errorf("clients got %v, want %v", got, want)
	}
}

func codeOf(behavior string) int {
	switch behavior {
	case healthy:
		return http.StatusOK
	case notFound:
		return http.StatusNotFound
	case fails:
		return http.StatusInternalServerError
	}
	return 0
}
