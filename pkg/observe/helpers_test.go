package observe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// memory keeps the events, and tells who waits for one.
type memory struct {
	mu     sync.Mutex
	events []history.Event
	moved  chan struct{}
	// now is the time of the history, 1 if it is earlier.
	now int64
}

func newMemory() *memory { return &memory{moved: make(chan struct{})} }

func (m *memory) Now() int64 { return max(m.now, 1) }

func (m *memory) Record(e history.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
	close(m.moved)
	m.moved = make(chan struct{})
}

// until waits for an event that the function accepts, and returns it.
func (m *memory) until(t *testing.T, accept func(history.Event) bool) history.Event {
	t.Helper()
	for seen := 0; ; {
		m.mu.Lock()
		events, moved := m.events, m.moved
		m.mu.Unlock()
		for ; seen < len(events); seen++ {
			if accept(events[seen]) {
				return events[seen]
			}
		}
		select {
		case <-moved:
		case <-t.Context().Done():
			t.Fatal("the test ended before the event came")
		}
	}
}

func (m *memory) of(kind history.Kind) []history.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []history.Event
	for _, e := range m.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// serve runs an API server of canned answers and returns how to reach it.
func serve(t *testing.T, handler http.Handler) func() (*rest.Config, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return func() (*rest.Config, error) { return &rest.Config{Host: server.URL}, nil }
}

func reply(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// atRevision is a Revisioner that always has the same answer.
type atRevision int64

func (r atRevision) Revision(context.Context) (int64, error) { return int64(r), nil }

func dial(t *testing.T, config func() (*rest.Config, error), recorder Recorder) *Client {
	t.Helper()
	c, err := config()
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewClient("cp1", c, recorder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}
