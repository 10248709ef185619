// Package faultybackend is an aggregated API server that misbehaves on request: it hangs,
// refuses connections, answers garbage, or serves a false discovery document. It hosts one
// resource of one group, which clients can discover and not use, with aggregated discovery or
// without.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package faultybackend

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/workload/backend"
)

const (
	// Version is the first API version that the server hosts.
	Version = "v1"
	// Resource is the plural name of the resource that the server hosts.
	Resource = "tides"
	// headerTimeout bounds how long a client may take to send its headers.
	headerTimeout = 10 * time.Second
	// dripInterval is the time between two bytes of a dripping answer: slow enough
	// that no sensible bound lets it come to its end.
	dripInterval = 500 * time.Millisecond
	// hugeSize is how many bytes a huge document has at least.
	hugeSize = 10 << 20
	// dialTimeout bounds the proof that no process listens.
	dialTimeout = time.Second
)

// resource is one that a server may host.
type resource struct{ plural, singular, kind, shortName string }

var (
	tides = resource{Resource, "tide", "Tide", "td"}
	// ebbs are what a newer release of the server hosts besides.
	ebbs = resource{"ebbs", "ebb", "Ebb", "eb"}
)

// Versions are all API versions that the server hosts, with the same resources in each.
var Versions = []string{Version, "v1beta1", "v1alpha1"}

// Server is a running backend.
type Server struct {
	group, host string
	started     time.Time
	// port is held, so that no other process gets it while the server refuses connections.
	port *heldPort

	mu       sync.Mutex
	behavior string
	// unaggregated is whether it has no aggregated document, as servers on an older library.
	unaggregated bool
	// withoutGroups is whether it has nothing at /apis at all.
	withoutGroups bool
	// hosts is what it hosts in each version.
	hosts []resource
	// changed is closed when the behavior is another one, and replaced.
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

// Start listens on a free port of a host of this machine, with a self-signed certificate
// that is valid from a day before now. An API server that proxies a group-version to it
// must not verify the certificate (insecureSkipTLSVerify).
func Start(host, group string, now time.Time) (*Server, error) {
	port, err := holdPort(host)
	if err != nil {
		return nil, fmt.Errorf("find a port for the backend of %s: %w", group, err)
	}
	s := &Server{group: group, host: host, started: now, port: port, hosts: []resource{tides}, changed: make(chan struct{}), news: make(chan struct{})}
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

// Behave changes the behavior of the server; empty means that it answers correctly. Behave
// cuts the requests that are under way.
func (s *Server) Behave(behavior string) error {
	if behavior != healthy && !slices.Contains(Behaviors(), behavior) {
		return fmt.Errorf("a backend has no behavior %q; it has: %v", behavior, Behaviors())
	}
	return s.turn(behavior)
}

// turn has the server behave in any way that there is.
func (s *Server) turn(behavior string) error {
	s.mu.Lock()
	s.behavior, s.asked = behavior, 0
	close(s.changed)
	s.changed = make(chan struct{})
	listening := s.serving
	if behavior == history.BackendRefuse {
		s.serving = nil
	}
	s.mu.Unlock()
	switch {
	case behavior == history.BackendRefuse && listening != nil:
		return listening.stop()
	case behavior != history.BackendRefuse && listening == nil:
		return s.listen()
	}
	return nil
}

// SpeakUnaggregated says whether the server, whenever it answers correctly, has unaggregated
// discovery alone, as servers that are built on an older library.
func (s *Server) SpeakUnaggregated(alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unaggregated = alone
}

// HideGroups says whether the server, whenever it answers correctly, answers 404 at /apis in every
// form, as servers that are written without the library: it has the documents of its group-versions
// alone.
func (s *Server) HideGroups(hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withoutGroups = hidden
}

// Grow says whether the server hosts one resource more, as a newer release of it does, and returns
// the plural names of what it hosts from now on.
func (s *Server) Grow(grown bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts = []resource{tides}
	if grown {
		s.hosts = append(s.hosts, ebbs)
	}
	var plurals []string
	for _, one := range s.hosts {
		plurals = append(plurals, one.plural)
	}
	return plurals
}

// Bitten waits until the misbehavior has affected so many requests for discovery, and
// returns what was seen. It returns an error if the context ends first. A server that
// refuses connections does not see the clients that try, so Bitten proves that a client
// cannot connect.
func (s *Server) Bitten(ctx context.Context, times int) (proof string, err error) {
	for {
		s.mu.Lock()
		behavior, asked, news := s.behavior, s.asked, s.news
		s.mu.Unlock()
		if behavior == history.BackendRefuse {
			return s.refuses(ctx)
		}
		if asked >= times {
			return fmt.Sprintf("the backend of %s was asked for discovery %d times, and its answer was: %s", s.group, asked, behavior), nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return "", fmt.Errorf("the backend of %s was asked for discovery %d times and not %d while its answer was %s: %w", s.group, asked, times, behavior, context.Cause(ctx))
		}
	}
}

// refuses returns the proof that a client cannot connect.
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
	behavior, changed, unaggregated, withoutGroups, hosts := s.behavior, s.changed, s.unaggregated, s.withoutGroups, s.hosts
	if r.URL.Path == "/apis" {
		// Only requests for /apis count: a request for a group-version may be one of any
		// client, which an API server proxies.
		s.asked++
		close(s.news)
		s.news = make(chan struct{})
	}
	s.mu.Unlock()
	if behavior != healthy {
		s.misbehave(behavior, changed, w, r)
		return
	}
	version, ofGroup := strings.CutPrefix(r.URL.Path, "/apis/"+s.group+"/")
	switch {
	case r.URL.Path == "/apis" && withoutGroups:
		backend.Write(w, http.StatusNotFound, backend.Status(http.StatusNotFound, "this server has no list of groups"))
	case r.URL.Path == "/apis" && unaggregated && wantsAggregated(r):
		backend.Write(w, http.StatusNotAcceptable, backend.Status(http.StatusNotAcceptable, "this server has no aggregated discovery"))
	case r.URL.Path == "/apis" && unaggregated:
		backend.Write(w, http.StatusOK, backend.Groups(backend.Group(s.group, Versions...)))
	case r.URL.Path == "/apis":
		whole := []byte(document(s.group, hosts))
		w.Header().Set("Content-Type", aggregatedType)
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(whole))))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(whole)) // 304 where the client has it
	case ofGroup && slices.Contains(Versions, version):
		backend.Write(w, http.StatusOK, map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": s.group + "/" + version,
			"resources": unaggregatedList(hosts),
		})
	default:
		backend.Write(w, http.StatusNotFound, backend.Status(http.StatusNotFound, "there is nothing here"))
	}
}

// unaggregatedList has resources as the plain document of a group-version lists them.
func unaggregatedList(hosts []resource) []any {
	var out []any
	for _, one := range hosts {
		out = append(out, map[string]any{
			"name": one.plural, "singularName": one.singular, "namespaced": true, "kind": one.kind, "shortNames": []string{one.shortName}, "verbs": []string{"get", "list"},
		})
	}
	return out
}

// wantsAggregated is whether a client takes nothing but aggregated documents.
func wantsAggregated(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if !strings.Contains(one, "as=") {
			return false
		}
	}
	return true
}
