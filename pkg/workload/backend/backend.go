// Package backend is a small aggregated API server for one group, to which the control
// plane under test proxies requests. It stores nothing and answers every write with the
// object that was sent. With it the harness can tell requests to an aggregated API from
// all others.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package backend

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	version   = "v1"
	resource  = "echoes"
	kind      = "Echo"
	maxObject = 1 << 20
	// headerTimeout bounds how long a client may take to send its headers.
	headerTimeout = 10 * time.Second
)

// Server is a running backend.
type Server struct {
	host string
	port int
	http *http.Server
	done chan struct{}
}

// Start listens on a free port of a host, which must be a name or an address of
// this machine, with a certificate of its own, valid from a day before now.
func Start(host, group string, now time.Time) (*Server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for the backend: %w", err)
	}
	secured, err := Secure(listener, now)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	s := &Server{
		host: host,
		port: listener.Addr().(*net.TCPAddr).Port,
		http: &http.Server{
			Handler:           handler(group),
			ReadHeaderTimeout: headerTimeout,
			// Broken connections are what a run is full of; they are no news.
			ErrorLog: log.New(io.Discard, "", 0),
		},
		done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(secured)
	}()
	return s, nil
}

// Secure makes a listener speak TLS, with a certificate of its own that is valid
// from a day before now. No certificate authority has signed it, so a client cannot verify
// it.
func Secure(listener net.Listener, now time.Time) (net.Listener, error) {
	certificate, err := selfSigned(now)
	if err != nil {
		return nil, fmt.Errorf("make the backend's certificate: %w", err)
	}
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
	}), nil
}

// Host that the backend was started on.
func (s *Server) Host() string { return s.host }

// Port that it serves on.
func (s *Server) Port() int { return s.port }

// Stop ends the backend and all its connections.
func (s *Server) Stop() error {
	err := s.http.Close()
	<-s.done
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func handler(group string) http.Handler {
	groupVersion := group + "/" + version
	description := Group(group, version)
	resources := map[string]any{
		"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion,
		"resources": []any{map[string]any{
			"name": resource, "singularName": "echo", "namespaced": true, "kind": kind,
			"verbs": []string{"create", "delete", "get", "list", "update"},
		}},
	}
	list := map[string]any{"kind": kind + "List", "apiVersion": groupVersion, "metadata": map[string]any{}, "items": []any{}}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/{$}", answer(http.StatusOK, Groups(description)))
	mux.HandleFunc("GET /apis", answer(http.StatusOK, Groups(description)))
	mux.HandleFunc("GET /apis/"+group, answer(http.StatusOK, description))
	mux.HandleFunc("GET /apis/"+groupVersion, answer(http.StatusOK, resources))
	mux.HandleFunc("GET /apis/"+groupVersion+"/"+resource, answer(http.StatusOK, list))
	objects := "/apis/" + groupVersion + "/namespaces/{namespace}/" + resource
	mux.HandleFunc("GET "+objects, answer(http.StatusOK, list))
	mux.HandleFunc("POST "+objects, echo(http.StatusCreated))
	mux.HandleFunc("PUT "+objects+"/{name}", echo(http.StatusOK))
	mux.HandleFunc("GET "+objects+"/{name}", answer(http.StatusOK, map[string]any{"kind": kind, "apiVersion": groupVersion, "metadata": map[string]any{"resourceVersion": "1"}}))
	mux.HandleFunc("DELETE "+objects+"/{name}", answer(http.StatusOK, Status(http.StatusOK, "")))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		Write(w, http.StatusNotFound, Status(http.StatusNotFound, "there is nothing at "+strings.ToValidUTF8(r.URL.Path, "?")))
	})
	return mux
}

// Group is what unaggregated discovery has of a group; the first version is the preferred one.
func Group(name string, versions ...string) map[string]any {
	var entries []any
	for _, one := range versions {
		entries = append(entries, map[string]any{"groupVersion": name + "/" + one, "version": one})
	}
	return map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": entries, "preferredVersion": entries[0]}
}

// Groups is what unaggregated discovery answers at /apis.
func Groups(all ...any) map[string]any {
	return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": all}
}

func answer(code int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { Write(w, code, body) }
}

// echo answers with the object that was sent.
func echo(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var object map[string]any
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxObject)).Decode(&object); err != nil {
			Write(w, http.StatusBadRequest, Status(http.StatusBadRequest, "the object cannot be read"))
			return
		}
		Write(w, code, object)
	}
}

// Status is the object that tells of an outcome.
func Status(code int, message string) map[string]any {
	outcome := "Success"
	if code >= http.StatusBadRequest {
		outcome = "Failure"
	}
	return map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": outcome, "code": code, "message": message}
}

// Write answers a request with a JSON object.
func Write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error here is a client that went away.
	_ = json.NewEncoder(w).Encode(body)
}

func selfSigned(now time.Time) (tls.Certificate, error) {
	const day = 24 * time.Hour
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "evenkeel backend"},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    now.Add(-day),
		NotAfter:     now.Add(30 * day),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
