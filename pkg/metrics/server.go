package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Path at which a Server has the metrics.
const Path = "/metrics"

// Bounds of a Server.
const (
	// readHeaderTimeout is how long a client may take to say what it wants.
	readHeaderTimeout = 5 * time.Second
	// closeTimeout is how long answers under way may take when the run has ended.
	closeTimeout = time.Second
)

// Server serves the metrics of a run.
type Server struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}
}

// Listen takes an address, such as 127.0.0.1:9099; port 0 has a free one chosen.
// A client has to wait until Serve. It fails in one sentence where the address
// cannot be had.
func Listen(ctx context.Context, addr string) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("metrics cannot be served at %q (%w): name another address with --metrics-addr, such as 127.0.0.1:9099", addr, err)
	}
	return &Server{listener: listener, done: make(chan struct{})}, nil
}

// URL of the metrics.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + Path }

// Serve begins to answer, until Close. It is called once.
func (s *Server) Serve(m *Metrics) {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, m.Handler())
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(s.listener) // it ends with Close, which is no news
	}()
}

// Close gives the address back.
func (s *Server) Close() error {
	if s.server == nil {
		return s.listener.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	<-s.done
	return err
}
