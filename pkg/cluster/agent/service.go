//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/leak"
)

// The requests that only installed agents answer.
const (
	pathWho     = "/who"
	pathRenew   = "/renew"
	pathLeave   = "/leave"
	pathRestore = "/restore"
	pathLogs    = "/logs"
)

// HarnessName is the common name of the certificate that an installed agent takes orders from.
const HarnessName = "harness"

// SaltFile is beside the keys of an installed agent.
const SaltFile = "salt"

// Who is what an installed agent says of itself.
type Who struct {
	Node    string       `json:"node"`
	Rung    cluster.Rung `json:"rung"`
	Version string       `json:"version"`
	// Etcd is whether the agent reads the node's etcd.
	Etcd bool `json:"etcd"`
}

// Service is an installed agent.
type Service struct {
	config  Installed
	who     Who
	clock   clock.WithTicker
	secured *tls.Config
	masker  *leak.Masker

	agent   *agent
	session *session
	hands   *hands // nil where the agent only looks
	etcd    *etcdView
	// wrap is between the handler and the connections.
	wrap func(http.Handler) http.Handler
}

// NewService makes the agent of a node from its configuration and the folder of its keys. It
// cuts the node off by the filter.
func NewService(config Installed, keys, node, version string, filter PacketFilter, clk clock.WithTicker) (*Service, error) {
	secured, own, err := serverTLS(keys)
	if err != nil {
		return nil, err
	}
	s := &Service{
		config: config, who: Who{Node: node, Rung: config.Rung, Version: version, Etcd: config.Etcd != nil},
		wrap: func(h http.Handler) http.Handler { return h }, clock: clk, secured: secured, session: &session{clock: clk},
		agent: &agent{Config: Config{Member: node, Manifests: config.Manifests, Components: config.Components}, watcher: newWatcher(config.Components)},
	}
	s.agent.watcher.belongs = belongs(config.Logs, node)
	if config.Rung == cluster.RungDisrupt {
		s.hands = &hands{agent: s.agent, filter: filter, holds: s.session.holds}
	}
	if config.Etcd != nil {
		salt, err := os.ReadFile(filepath.Join(keys, SaltFile))
		if err != nil {
			return nil, fmt.Errorf("read the salt of the installation: %w", err)
		}
		if err := checkSalt(salt); err != nil {
			return nil, err
		}
		s.etcd = newEtcdView(*config.Etcd, salt)
		// A key that is not there yet is in no log either.
		if raw, err := os.ReadFile(config.Etcd.Key); err == nil {
			own = append(own, credential.Keys("the key of etcd's client", raw)...)
		}
	}
	s.masker = leak.NewMasker(own)
	return s, nil
}

// serverTLS lets in nothing but the harness of the installation.
func serverTLS(keys string) (*tls.Config, []credential.Credential, error) {
	pool, err := authority(filepath.Join(keys, AuthorityFile))
	if err != nil {
		return nil, nil, fmt.Errorf("read the agent's keys: %w", err)
	}
	pair, err := KeyFiles{Cert: filepath.Join(keys, CertFile), Key: filepath.Join(keys, KeyFile)}.load()
	if err != nil {
		return nil, nil, fmt.Errorf("read the agent's keys: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(keys, KeyFile))
	if err != nil {
		return nil, nil, fmt.Errorf("read the agent's keys: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
		NextProtos: []string{"h2", "http/1.1"},
		// Agents have certificates of the same authority, and take no orders from each other.
		VerifyConnection: func(state tls.ConnectionState) error {
			if name := state.PeerCertificates[0].Subject.CommonName; name != HarnessName {
				return fmt.Errorf("the certificate of %q gives no right here", name)
			}
			return nil
		},
	}, credential.Keys("the agent's key", raw), nil
}

// Run takes back what an agent before it has left, and serves until the context ends, its
// harness falls silent, or its lifetime is over. In the end it has taken everything back.
func (s *Service) Run(ctx context.Context, listener net.Listener, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	s.agent.watcher.scan() // what runs already is known before it is asked for
	running.Go(func() { s.agent.watcher.run(ctx) })
	if err := s.undo(); err != nil {
		return fmt.Errorf("take back what an agent before has left: %w", err)
	}
	served := s.serve(ctx, listener)
	defer served.close()
	ended := make(chan string, 1)
	running.Go(func() {
		if s.session.awaitSilence(ctx) {
			ended <- "its harness has fallen silent"
		}
	})
	expiry := s.clock.NewTimer(s.config.Expires.Sub(s.clock.Now()))
	defer expiry.Stop()
	var err error
	var left *Bequest
	select {
	case err = <-served.ended:
	case why := <-ended:
		log.Info("the agent ends", "reason", why)
		left = s.session.left()
	case <-expiry.C():
		log.Info("the agent ends", "reason", "its lifetime is over; remove it with `evenkeel agent remove`")
	case <-ctx.Done():
	}
	if s.hands == nil {
		return err
	}
	err = errors.Join(err, s.hands.retire())
	if left != nil {
		err = errors.Join(err, left.carryOut(ctx, log, left.deleteBy, s.clock, s.session.silent))
	}
	return err
}

// undo takes back what an agent before this one has left.
func (s *Service) undo() error {
	if s.hands == nil {
		return nil
	}
	return s.hands.undo()
}

// serving is a server that runs.
type serving struct {
	ended chan error
	close func()
}

func (s *Service) serve(ctx context.Context, listener net.Listener) serving {
	rpc := grpc.NewServer()
	if s.etcd != nil {
		s.etcd.register(rpc)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	server := &http.Server{
		Handler: s.wrap(s.split(rpc)), TLSConfig: s.secured, ReadHeaderTimeout: headerBound, Protocols: protocols,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // who knocks without a certificate is not worth a line
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	return serving{ended: ended, close: func() {
		_ = server.Close()
		rpc.Stop()
		if s.etcd != nil {
			s.etcd.close()
		}
	}}
}

// split gives what is etcd's protocol to etcd's view.
func (s *Service) split(rpc http.Handler) http.Handler {
	own := s.handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			rpc.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

// handler has no more than the rung allows: what is not there cannot be asked for.
func (s *Service) handler() http.Handler {
	a, mux := s.agent, http.NewServeMux()
	mux.HandleFunc("GET "+pathWho, func(w http.ResponseWriter, _ *http.Request) { answer(w, s.who, nil) })
	mux.HandleFunc("GET "+pathEvents, a.streamEvents)
	mux.HandleFunc("GET "+pathHealth, a.askHealth)
	mux.HandleFunc("GET "+pathStopped, a.askStopped)
	mux.HandleFunc("GET "+pathCPUWaits, a.tellCPUWaits)
	mux.HandleFunc("GET "+pathLogs, func(w http.ResponseWriter, r *http.Request) { a.streamLog(w, r, s.config.Logs, s.masker) })
	mux.HandleFunc("POST "+pathRenew, func(w http.ResponseWriter, r *http.Request) {
		var asked renewal
		err := json.NewDecoder(r.Body).Decode(&asked)
		if err == nil {
			err = s.session.renew(r.Header.Get(runHeader), remote(r), asked.Bequest)
		}
		answer(w, struct{}{}, err)
	})
	mux.HandleFunc("POST "+pathLeave, s.leave)
	if s.hands == nil {
		return mux
	}
	mux.HandleFunc("POST "+pathEnd, s.held(answering(func(r *http.Request, wanted end) (signaled, error) {
		return s.hands.end(r.Header.Get(runHeader), wanted)
	})))
	mux.HandleFunc("POST "+pathRestore, s.held(answering(func(_ *http.Request, wanted clearing) (struct{}, error) { return s.hands.restore(wanted) })))
	mux.HandleFunc("PUT "+pathLink, s.held(answering(func(r *http.Request, wanted shaping) (struct{}, error) {
		if wanted.Link != cluster.LinkNode {
			return struct{}{}, fmt.Errorf("the agent shapes no single link: %w", cluster.ErrUnsupported)
		}
		return struct{}{}, s.hands.sever(r.Header.Get(runHeader), wanted.Shape, s.session.harness())
	})))
	mux.HandleFunc("GET "+pathLink, func(w http.ResponseWriter, _ *http.Request) {
		stats, err := s.hands.stats()
		answer(w, stats, err)
	})
	return mux
}

// held lets through only what the run asks for that has the session.
func (s *Service) held(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.session.holds(r.Header.Get(runHeader)); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		next(w, r)
	}
}

// leave ends the session of a run: everything is taken back, and the agent waits for the next.
func (s *Service) leave(w http.ResponseWriter, r *http.Request) {
	if err := s.session.holds(r.Header.Get(runHeader)); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	if s.hands == nil {
		s.session.end()
		answer(w, struct{}{}, nil)
		return
	}
	answer(w, struct{}{}, s.hands.release(r.Header.Get(runHeader), s.session.end))
}
