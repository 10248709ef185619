package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// answer is a sort of answer whose time is taken.
type answer string

const (
	plainAnswer answer = "plain"
	gzipAnswer  answer = "gzip"
	unchanged   answer = "304"
)

var answers = []answer{plainAnswer, gzipAnswer, unchanged}

// load is how a server did under one sort of request.
type load struct {
	// bytes of the body.
	bytes int64
	// paced is what came of pacedRate requests a second, alone of one client that
	// waits for each answer, and fastest of as many as brought the highest rate.
	paced, alone, fastest sample
}

// sample are the answers to some requests.
type sample struct {
	// clients that asked at a time; 0 where requests came at their own times.
	clients int
	// rate is how many answers came in a second.
	rate float64
	// p50 and p99 of the times of answers, in seconds.
	p50, p99 float64
}

// loadAll takes the times of all sorts of answers.
func loadAll(ctx context.Context, config *rest.Config, duration time.Duration) (map[answer]load, error) {
	clients, err := newClients(config, slices.Max(append([]int{connections}, concurrencies...)))
	if err != nil {
		return nil, err
	}
	defer closeAll(clients)
	all := map[answer]load{}
	for _, a := range answers {
		asked, err := newQuestion(ctx, clients[0], a)
		if err != nil {
			return nil, err
		}
		// The first answers open connections and fill caches, on either side.
		for _, c := range clients {
			if err := asked.put(ctx, c); err != nil {
				return nil, err
			}
		}
		l := load{bytes: asked.length}
		for _, count := range concurrencies {
			s, err := flatOut(ctx, clients[:count], asked, duration/flatOutShorter)
			if err != nil {
				return nil, err
			}
			if count == 1 {
				l.alone = s
			}
			if s.rate > l.fastest.rate {
				l.fastest = s
			}
		}
		if l.paced, err = paced(ctx, clients[:connections], asked, pacedRate, pacedLonger*duration); err != nil {
			return nil, err
		}
		bench.Progress("  %s: %.0f/s by %d at a time; at %d/s p50 %.2f ms, p99 %.2f ms", a, l.fastest.rate, l.fastest.clients, pacedRate, l.paced.p50*1e3, l.paced.p99*1e3)
		all[a] = l
	}
	return all, nil
}

// question is a request that is put many times, and the answer that must come.
type question struct {
	compressed bool
	tag        string
	status     int
	length     int64
}

// newQuestion finds out what the answer is.
func newQuestion(ctx context.Context, c *client, a answer) (question, error) {
	q := question{compressed: a == gzipAnswer, status: http.StatusOK}
	first, err := c.read(ctx, q.compressed, "")
	if err != nil {
		return q, err
	}
	if first.status != http.StatusOK || first.tag == "" || len(first.body) == 0 {
		return q, fmt.Errorf("status %d, tag %q and %d bytes came for the aggregated document", first.status, first.tag, len(first.body))
	}
	q.length = int64(len(first.body))
	if a == unchanged {
		q.tag, q.status, q.length = first.tag, http.StatusNotModified, 0
		return q, nil
	}
	// A server may compress long answers only.
	if _, err := first.content(); err != nil {
		return q, fmt.Errorf("the %s answer: %w", a, err)
	}
	return q, nil
}

// put asks once. Any other answer than the one that must come is an error: it
// took the time of something else.
func (q question) put(ctx context.Context, c *client) error {
	response, err := c.ask(ctx, q.compressed, q.tag)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	length, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != q.status || length != q.length {
		return fmt.Errorf("status %d with %d bytes came, and not %d with %d", response.StatusCode, length, q.status, q.length)
	}
	return nil
}

// flatOut has each client ask again as soon as it has its answer.
func flatOut(ctx context.Context, clients []*client, q question, duration time.Duration) (sample, error) {
	began := time.Now()
	var times stopwatch
	err := together(ctx, len(clients), func(ctx context.Context, i int) error {
		for asked := time.Now(); ; {
			if err := q.put(ctx, clients[i]); err != nil {
				return err
			}
			now := time.Now()
			times.add(now.Sub(asked))
			if asked = now; asked.Sub(began) >= duration {
				return nil
			}
		}
	})
	s := times.sample(time.Since(began))
	s.clients = len(clients)
	return s, err
}

// paced asks at a steady rate, whatever comes back. The time of an answer counts
// from when its request was due, so that a server that lags behind cannot hide
// it.
func paced(ctx context.Context, clients []*client, q question, rate int, duration time.Duration) (sample, error) {
	began := time.Now()
	due := make(chan time.Time)
	var times stopwatch
	var inTime atomic.Int64
	err := together(ctx, outstanding+1, func(ctx context.Context, i int) error {
		if i == outstanding {
			defer close(due)
			return schedule(ctx, due, began, rate, duration)
		}
		for at := range due {
			if err := q.put(ctx, clients[i%len(clients)]); err != nil {
				return err
			}
			now := time.Now()
			times.add(now.Sub(at))
			if now.Sub(began) <= duration {
				inTime.Add(1)
			}
		}
		return nil
	})
	s := times.sample(duration)
	s.rate = float64(inTime.Load()) / duration.Seconds()
	return s, err
}

// schedule says when requests are due, until the duration is over.
func schedule(ctx context.Context, due chan<- time.Time, began time.Time, rate int, duration time.Duration) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; ; n++ {
		at := began.Add(time.Duration(n) * time.Second / time.Duration(rate))
		if n > 0 && (at.Sub(began) >= duration || time.Since(began) >= duration) {
			return nil
		}
		timer.Reset(time.Until(at))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case due <- at:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stopwatch collects times from several goroutines.
type stopwatch struct {
	mu    sync.Mutex
	times []float64
}

func (s *stopwatch) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, seconds(d))
}

func (s *stopwatch) sample(took time.Duration) sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sample{rate: float64(len(s.times)) / took.Seconds(), p50: bench.Quantile(s.times, 0.5), p99: bench.Quantile(s.times, 0.99)}
}
