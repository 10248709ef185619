// Package faultybackend is an aggregated API server that misbehaves when it is
// told to: it hangs, refuses, answers garbage, lies. It hosts one resource of one
// group, which can be discovered and is good for nothing else.
package faultybackend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/workload/backend"
)

const (
	// Version and Resource that the server hosts.
	Version  = "v1"
	Resource = "tides"
	kind     = "Tide"
	// headerTimeout bounds how long a client may take to send its headers.
	headerTimeout = 10 * time.Second
	// dripInterval is the time between two bytes of a dripping answer: slow enough
	// that no sensible bound lets it come to its end.
	dripInterval = 500 * time.Millisecond
	// hugeSize is how many bytes a huge document has at least.
	hugeSize = 10 << 20
	// dialTimeout bounds the proof that nobody listens.
	dialTimeout = time.Second
)

// Server is a running backend.
type Server struct {
	group, host string
	started     time.Time
	// port is held, so that it is nobody else's while the server refuses.
	port *heldPort

	mu        sync.Mutex
	behaviour string
	// changed is closed when the behaviour is another one, and replaced.
	changed chan struct{}
	// asked counts the requests for discovery since then, and news is closed and
	// replaced with each.
	asked int
	news  chan struct{}
	// serving is nil while the server refuses.
	serving *serving
}

// serving is a listener at work.
type serving struct {
	http *http.Server
	done chan struct{}
}

// Start listens on a free port of a host of this machine, with a certificate of
// its own, valid from a day before now. Whoever hands a group-version on to it
// must not verify it.
func Start(host, group string, now time.Time) (*Server, error) {
	port, err := holdPort(host)
	if err != nil {
		return nil, fmt.Errorf("find a port for the backend of %s: %w", group, err)
	}
	s := &Server{group: group, host: host, started: now, port: port, changed: make(chan struct{}), news: make(chan struct{})}
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, port.release())
	}
	return s, nil
}

// Group that the server hosts.
func (s *Server) Group() string { return s.group }

// Host that the server was started on.
func (s *Server) Host() string { return s.host }

// Port that it serves on, also after it refused for a while.
func (s *Server) Port() int { return s.port.number }

// Behave makes the server do something else; empty is to answer as it should.
// What requests are under way are cut.
func (s *Server) Behave(behaviour string) error {
	if behaviour != healthy && !slices.Contains(Behaviours(), behaviour) {
		return fmt.Errorf("a backend cannot be told to %q; it can %v", behaviour, Behaviours())
	}
	return s.turn(behaviour)
}

// turn has the server behave in any way that there is.
func (s *Server) turn(behaviour string) error {
	s.mu.Lock()
	s.behaviour, s.asked = behaviour, 0
	close(s.changed)
	s.changed = make(chan struct{})
	listening := s.serving
	if behaviour == history.BackendRefuse {
		s.serving = nil
	}
	s.mu.Unlock()
	switch {
	case behaviour == history.BackendRefuse && listening != nil:
		return listening.stop()
	case behaviour != history.BackendRefuse && listening == nil:
		return s.listen()
	}
	return nil
}

// Bitten waits until the misbehaviour has met so many requests for discovery, and
// says what was seen. It returns an error when the context ends before. One that
// refuses connections cannot see who tries: it proves that nobody can.
func (s *Server) Bitten(ctx context.Context, times int) (proof string, err error) {
	for {
		s.mu.Lock()
		behaviour, asked, news := s.behaviour, s.asked, s.news
		s.mu.Unlock()
		if behaviour == history.BackendRefuse {
			return s.refuses(ctx)
		}
		if asked >= times {
			return fmt.Sprintf("the backend of %s was asked for discovery %d times, and its answer was: %s", s.group, asked, behaviour), nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return "", fmt.Errorf("the backend of %s was asked for discovery %d times and not %d while its answer was %s: %w", s.group, asked, times, behaviour, context.Cause(ctx))
		}
	}
}

// refuses is the proof that nobody can connect.
func (s *Server) refuses(ctx context.Context) (string, error) {
	address := net.JoinHostPort(s.host, strconv.Itoa(s.port.number))
	connection, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
	if err == nil {
		_ = connection.Close()
		return "", fmt.Errorf("the backend of %s is to refuse connections and takes them", s.group)
	}
	return fmt.Sprintf("a connection to the backend of %s is refused: %v", s.group, err), nil
}

// Stop ends the server and all its connections.
func (s *Server) Stop() error {
	s.mu.Lock()
	listening := s.serving
	s.serving = nil
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	var err error
	if listening != nil {
		err = listening.stop()
	}
	return errors.Join(err, s.port.release())
}

// listen begins to serve.
func (s *Server) listen() error {
	listener, err := s.port.listen()
	if err != nil {
		return fmt.Errorf("listen for the backend of %s: %w", s.group, err)
	}
	secured, err := backend.Secure(listener, s.started)
	if err != nil {
		_ = listener.Close()
		return err
	}
	begun := &serving{
		http: &http.Server{
			Handler:           http.HandlerFunc(s.serve),
			ReadHeaderTimeout: headerTimeout,
			// Broken connections are what it is for; they are no news.
			ErrorLog: log.New(io.Discard, "", 0),
		},
		done: make(chan struct{}),
	}
	go func() {
		defer close(begun.done)
		_ = begun.http.Serve(secured)
	}()
	s.mu.Lock()
	s.serving = begun
	s.mu.Unlock()
	return nil
}

func (l *serving) stop() error {
	err := l.http.Close()
	<-l.done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// serve answers a request as the server is told to.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	behaviour, changed := s.behaviour, s.changed
	if r.URL.Path == "/apis" {
		// What asks for a group-version may be anybody's request that is handed on.
		s.asked++
		close(s.news)
		s.news = make(chan struct{})
	}
	s.mu.Unlock()
	if behaviour != healthy {
		s.misbehave(behaviour, changed, w, r)
		return
	}
	switch r.URL.Path {
	case "/apis":
		w.Header().Set("Content-Type", aggregatedType)
		_, _ = w.Write([]byte(document(s.group)))
	case "/apis/" + s.group + "/" + Version:
		write(w, http.StatusOK, map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": s.group + "/" + Version,
			"resources": []any{map[string]any{
				"name": Resource, "singularName": "tide", "namespaced": true, "kind": kind, "shortNames": []string{"td"}, "verbs": []string{"get", "list"},
			}},
		})
	default:
		write(w, http.StatusNotFound, map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound})
	}
}

func write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error here is a client that went away.
	_ = json.NewEncoder(w).Encode(body)
}
