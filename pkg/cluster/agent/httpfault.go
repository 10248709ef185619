//go:build linux

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// httpFault asks for a fault of single requests. It lasts for as long as the
// request that asks for it, or until it is healed.
type httpFault struct {
	Component cluster.Component `json:"component"`
	Fault     cluster.HTTPFault `json:"fault"`
}

// begun is the first line of the answer; the others are exchanges.
type begun struct {
	ID int `json:"id"`
}

// exchanges are what a fault has hit, for the one who hears of it.
type exchanges struct {
	heal func()

	mu     sync.Mutex
	waits  []cluster.HTTPExchange
	open   int // hits that are not over
	healed bool
	more   chan struct{}
}

func newExchanges() *exchanges { return &exchanges{more: make(chan struct{}, 1)} }

func (e *exchanges) signal() {
	select {
	case e.more <- struct{}{}:
	default: // a waiter was woken already
	}
}

func (e *exchanges) add(one cluster.HTTPExchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits = append(e.waits, one)
	if one.Over {
		e.open--
	} else {
		e.open++
	}
	e.signal()
}

// take gives what there is, and whether nothing more can come.
func (e *exchanges) take() (waits []cluster.HTTPExchange, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	waits, e.waits = e.waits, nil
	return waits, e.healed && e.open == 0
}

func (e *exchanges) end() {
	e.heal()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.healed = true
	e.signal()
}

// httpFaults are those that there are, by number.
type httpFaults struct {
	mu   sync.Mutex
	last int
	byID map[int]*exchanges
}

func (f *httpFaults) add(e *exchanges) (id int, remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byID == nil {
		f.byID = map[int]*exchanges{}
	}
	f.last++
	id = f.last
	f.byID[id] = e
	return id, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.byID, id)
	}
}

func (f *httpFaults) find(id int) *exchanges {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byID[id]
}

// faultHTTP tells of each request that a fault hits, one to a line.
func (a *agent) faultHTTP(w http.ResponseWriter, r *http.Request) {
	var wanted httpFault
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, err := a.component(wanted.Component); err != nil {
		answer(w, nil, err)
		return
	}
	hits := newExchanges()
	heal, err := a.links.requests.faultHTTP(wanted.Component, wanted.Fault, hits.add)
	if err != nil {
		answer(w, nil, err)
		return
	}
	hits.heal = heal
	// Also where no client asks for its end: the one that wanted it may be gone.
	defer heal()
	id, remove := a.faults.add(hits)
	defer remove()
	lines := json.NewEncoder(w)
	control := http.NewResponseController(w)
	if lines.Encode(begun{id}) != nil {
		return
	}
	for {
		waits, done := hits.take()
		for _, one := range waits {
			if lines.Encode(one) != nil {
				return
			}
		}
		if control.Flush() != nil || done {
			return
		}
		select {
		case <-hits.more:
		case <-r.Context().Done():
			return
		}
	}
}

// healHTTP ends a fault; one that is not there has ended.
func (a *agent) healHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.URL.Query().Get("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if hits := a.faults.find(id); hits != nil {
		hits.end()
	}
	answer(w, struct{}{}, nil)
}

// FaultHTTP has single requests of a component hit, until heal is called or the
// context ends. The observer is told of each, from one goroutine, which ends with
// the last one that was hit.
func (c *Client) FaultHTTP(ctx context.Context, component cluster.Component, fault cluster.HTTPFault, observe func(cluster.HTTPExchange)) (heal func(), err error) {
	raw, err := json.Marshal(httpFault{component, fault})
	if err != nil {
		return nil, err
	}
	stream, end := context.WithCancelCause(ctx)
	silent := time.AfterFunc(answerBound, func() { end(fmt.Errorf("it has said nothing for %s", answerBound)) })
	body, err := c.do(stream, http.MethodPost, pathHTTPFault, nil, raw)
	if err != nil {
		end(nil)
		return nil, err
	}
	lines := json.NewDecoder(body)
	var first begun
	if err := lines.Decode(&first); err != nil {
		body.Close()
		end(nil)
		return nil, fmt.Errorf("the agent of %s began no fault: %w", c.member, err)
	}
	silent.Stop()
	go func() {
		defer end(nil)
		defer body.Close()
		for {
			var one cluster.HTTPExchange
			if lines.Decode(&one) != nil {
				return // its end, or a node without power, where nothing is hit any more
			}
			observe(one)
		}
	}()
	return sync.OnceFunc(func() {
		err := c.exchange(ctx, http.MethodDelete, pathHTTPFault, url.Values{"id": {strconv.Itoa(first.ID)}}, nil, nil)
		if err != nil {
			// A client that stands still notices later that the server does not listen any more.
			end(err)
		}
	}), nil
}

// SetKeyFault sets what becomes of the API server's requests to etcd.
func (c *Client) SetKeyFault(ctx context.Context, fault cluster.KeyFault) error {
	return c.exchange(ctx, http.MethodPut, pathKeyFault, nil, fault, nil)
}

// KeyFaultStats tells how many requests the node's faults have met since it came
// up.
func (c *Client) KeyFaultStats(ctx context.Context) (cluster.KeyFaultStats, error) {
	var stats cluster.KeyFaultStats
	err := c.exchange(ctx, http.MethodGet, pathKeyFault, nil, nil, &stats)
	return stats, err
}
