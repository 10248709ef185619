package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Interceptor stands between the controllers of a member and its API server, ends
// their TLS and speaks HTTP with both, so that single requests can be hit. A
// controller stays who it is: the API server is shown the certificate of the client
// showed one to the Interceptor, which has the keys of all of them; and tokens go
// on as they are.
type Interceptor struct {
	listener net.Listener
	server   *http.Server
	target   *url.URL
	callers  map[string]*caller

	mu     sync.Mutex
	faults []*httpFault
	under  map[*underWay]bool
}

// Identity is a controller with the certificate by which API servers know it.
type Identity struct {
	Component   cluster.Component
	Certificate tls.Certificate
}

type caller struct {
	component cluster.Component
	transport *http.Transport
}

type httpFault struct {
	cluster.HTTPFault
	component cluster.Component
	observe   func(cluster.HTTPExchange)
	// selected counts the requests that it is about.
	selected int
}

// due is whether the fault hits a request that is asked now, and counts it.
func (f *httpFault) due(one *underWay) bool {
	if f.component != one.component || !f.Hits(one.method, one.path) {
		return false
	}
	f.selected++
	return f.Every == 0 || f.selected%f.Every == 0
}

// underWay is a request that is being answered.
type underWay struct {
	component    cluster.Component
	method, path string
	cancel       context.CancelFunc
}

// errAborted ends an answer that a fault breaks off.
var errAborted = errors.New("aborted by a fault")

// InterceptorConfig is what an Interceptor is made of.
type InterceptorConfig struct {
	// Listener is where controllers come to, and Serving what they are shown.
	Listener net.Listener
	Serving  tls.Certificate
	// Authority vouches for controllers and API server.
	Authority *x509.CertPool
	// Address of the API server, as host and port; Dial reaches it, and may be nil.
	Address string
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	// Identities are all that controllers may show.
	Identities []Identity
}

// NewInterceptor begins to serve. A client that shows no certificate is the controller
// manager, the only one that goes by tokens.
func NewInterceptor(config InterceptorConfig) (*Interceptor, error) {
	i := &Interceptor{
		listener: config.Listener, target: &url.URL{Scheme: "https", Host: config.Address},
		callers: map[string]*caller{}, under: map[*underWay]bool{},
	}
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialBound}).DialContext
	}
	transport := func(certificates ...tls.Certificate) *http.Transport {
		return &http.Transport{
			TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: config.Authority, Certificates: certificates},
			DialContext:       dial,
			ForceAttemptHTTP2: true,
		}
	}
	i.callers[""] = &caller{cluster.ControllerManager, transport()}
	for _, one := range config.Identities {
		leaf, err := x509.ParseCertificate(one.Certificate.Certificate[0])
		if err != nil {
			return nil, fmt.Errorf("cannot read the certificate of the %s: %w", one.Component, err)
		}
		i.callers[leaf.Subject.CommonName] = &caller{one.Component, transport(one.Certificate)}
	}
	i.server = &http.Server{
		Handler: i,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{config.Serving},
			ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: config.Authority, NextProtos: []string{"h2", "http/1.1"},
		},
		ReadHeaderTimeout: dialBound,
		// Broken connections are what this is for.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	// It ends with Stop, and only then.
	go func() { _ = i.server.ServeTLS(config.Listener, "", "") }()
	return i, nil
}

// Address is where connections are to be sent.
func (i *Interceptor) Address() string { return i.listener.Addr().String() }

// Stop ends all that is under way.
func (i *Interceptor) Stop() {
	i.server.Close()
	for _, one := range i.callers {
		one.transport.CloseIdleConnections()
	}
}

// Fault has requests of the component hit until heal is called. What is under way
// and would have been hit is broken off; where only some requests are hit, none of
// those that had begun is one of them.
func (i *Interceptor) Fault(component cluster.Component, fault cluster.HTTPFault, observe func(cluster.HTTPExchange)) (heal func()) {
	added := &httpFault{HTTPFault: fault, component: component, observe: observe}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.faults = append(i.faults, added)
	for one := range i.under {
		if fault.Every == 0 && one.component == component && fault.Hits(one.method, one.path) {
			one.cancel()
		}
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.faults = slices.DeleteFunc(i.faults, func(f *httpFault) bool { return f == added })
	}
}

// enter notes a request, and gives the first fault that hits it; leave it when it
// was answered.
func (i *Interceptor) enter(one *underWay) (hit *httpFault, leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.under[one] = true
	for _, f := range i.faults {
		if f.due(one) {
			hit = f
			break
		}
	}
	return hit, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.under, one)
	}
}

// ServeHTTP answers one request of a controller.
func (i *Interceptor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := ""
	if len(r.TLS.PeerCertificates) > 0 {
		name = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	from, known := i.callers[name]
	if !known {
		http.Error(w, fmt.Sprintf("the faulty link of evenkeel has no key of %q", name), http.StatusBadGateway)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	hit, leave := i.enter(&underWay{from.component, r.Method, r.URL.Path, cancel})
	defer leave()
	if hit == nil {
		i.pass(w, r, from, func(*http.Response) error { return nil })
		return
	}
	exchange := cluster.HTTPExchange{Method: r.Method, Path: r.URL.Path, Watch: r.URL.Query().Has("watch")}
	began := time.Now()
	hit.observe(exchange)
	defer func() {
		exchange.Over, exchange.Took = true, time.Since(began)
		hit.observe(exchange)
	}()
	i.harm(w, r, from, hit, &exchange)
}

// harm does to a request what the fault says.
func (i *Interceptor) harm(w http.ResponseWriter, r *http.Request, from *caller, fault *httpFault, exchange *cluster.HTTPExchange) {
	if !fault.Answers {
		held := time.Now()
		if fault.Abort || !holdBack(r.Context(), fault.Delay) {
			panic(http.ErrAbortHandler)
		}
		exchange.Held = time.Since(held)
	}
	i.pass(w, r, from, func(answer *http.Response) error {
		exchange.Sent = true
		if fault.Answers {
			if fault.Abort || !holdBack(r.Context(), fault.Delay) {
				return errAborted
			}
			if fault.Code != 0 {
				fail(answer, fault.Code)
			}
		}
		exchange.Code = answer.StatusCode
		return nil
	})
}

// fail makes an answer a failure. What it had to say goes with its status: it was
// no failure's, and the stream of a watch would never end.
func fail(answer *http.Response, code int) {
	answer.StatusCode, answer.Status = code, ""
	answer.Body.Close()
	answer.Body, answer.ContentLength = http.NoBody, 0
	answer.Header.Set("Content-Length", "0")
	answer.Header.Del("Content-Encoding")
}

// holdBack waits; it is false if the client has gone before the time was over.
func holdBack(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pass sends a request on, and its answer back as it comes in.
func (i *Interceptor) pass(w http.ResponseWriter, r *http.Request, from *caller, answered func(*http.Response) error) {
	proxy := httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(i.target) },
		Transport:      from.transport,
		FlushInterval:  -1,
		ModifyResponse: answered,
		ErrorLog:       i.server.ErrorLog,
		// An API server that is not there leaves a broken connection without this
		// link too.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	proxy.ServeHTTP(w, r)
}
