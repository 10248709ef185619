package migrator

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/migration"
)

type answer func(*http.Request) (*http.Response, error)

func (a answer) RoundTrip(req *http.Request) (*http.Response, error) { return a(req) }

func status(code int) answer {
	return func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: code}, nil }
}

func TestWritesKeepToThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		pacer := newPacer(migration.DefaultRate, clock.RealClock{})
		transport := transport{pacer: pacer, leading: func() error { return nil }, next: answer(func(*http.Request) (*http.Response, error) {
			times = append(times, time.Now())
			return &http.Response{StatusCode: http.StatusOK}, nil
		})}
		send := func(method string) {
			req := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
			if _, err := transport.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			send(http.MethodPut)
		}
		for i := range times {
			count := 0
			for _, at := range times[i:] {
				if at.Sub(times[i]) < time.Second {
					count++
				}
			}
			if count >= 10 {
				t.Fatalf("%d writes in a second", count)
			}
		}
		before := time.Now()
		for range 100 {
			send(http.MethodGet)
		}
		if time.Since(before) > 0 {
			t.Errorf("reads had to wait for %s", time.Since(before))
		}
		// A list of objects is load, too.
		transport.reads = true
		before = time.Now()
		for range 100 {
			send(http.MethodGet)
		}
		if took := time.Since(before); took < 11*time.Second {
			t.Errorf("100 lists were sent within %s", took)
		}
		transport.next = status(http.StatusTooManyRequests)
		send(http.MethodPut)
		if pacer.pace.Rate > migration.DefaultRate/2 {
			t.Errorf("after a refusal the rate is %v", pacer.pace.Rate)
		}
	})
}

func TestNothingIsWrittenWithoutLeadership(t *testing.T) {
	deposed := errors.New("deposed")
	sent := 0
	transport := transport{pacer: newPacer(1000, clock.RealClock{}), leading: func() error { return deposed }, next: answer(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK}, nil
	})}
	if _, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)); !errors.Is(err, deposed) || sent > 0 {
		t.Errorf("a write was sent: %v", err)
	}
	if _, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)); err != nil || sent != 1 {
		t.Errorf("a read was not sent: %v", err)
	}
}
