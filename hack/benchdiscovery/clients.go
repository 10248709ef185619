package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// clientRun is what a client of everyday use asked for.
type clientRun struct {
	// what the client did.
	what string
	// requests are their paths with the status of the answer, sorted.
	requests []string
}

// kubectl is the client that people discover with.
const kubectl = "kubectl"

// clientsNeed has client-go's cached discovery, and kubectl if it is there,
// discover everything, and tells what they asked for.
func clientsNeed(ctx context.Context, config *rest.Config, program string) ([]clientRun, error) {
	through, err := newRelay(config)
	if err != nil {
		return nil, err
	}
	defer through.close()
	var runs []clientRun
	record := func(what string, do func() error) error {
		if err := do(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		runs = append(runs, clientRun{what, through.taken()})
		return nil
	}
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: through.url, QPS: config.QPS})
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(client)
	if err := record("client-go's cached discovery: all resources, the preferred ones, and a REST mapper", func() error {
		if _, _, err := cached.ServerGroupsAndResources(); err != nil {
			return err
		}
		if _, err := cached.ServerPreferredResources(); err != nil {
			return err
		}
		_, err := restmapper.GetAPIGroupResources(cached)
		return err
	}); err != nil {
		return nil, err
	}
	if program == "" {
		return runs, nil
	}
	home, err := os.MkdirTemp("", "benchdiscovery-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	for _, what := range []string{"`kubectl api-resources`, the first time", "`kubectl api-resources` again"} {
		if err := record(what, func() error { return runKubectl(ctx, program, through.url, home) }); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// buildKubectl finds kubectl of a release beside its other binaries, or builds it.
func buildKubectl(ctx context.Context, release string) (string, error) {
	cache, err := kubernetes.CacheDir()
	if err != nil {
		return "", err
	}
	target := gobuild.Kubernetes(cache, release, kubectl)
	return filepath.Join(target.Dir, kubectl), target.Make(ctx)
}

func runKubectl(ctx context.Context, program, server, home string) error {
	run := exec.CommandContext(ctx, program, "api-resources", "--server", server, "--cache-dir", filepath.Join(home, "cache"), "--output", "name")
	// Nothing that the user has set up is to have a say.
	run.Env = []string{"HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "none")}
	output, err := run.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	if !strings.Contains(string(output), "\n") {
		return fmt.Errorf("it listed nothing")
	}
	return nil
}

// relay passes requests of clients on to the API server, and notes them.
type relay struct {
	url      string
	server   *http.Server
	mu       sync.Mutex
	requests []string
}

func newRelay(config *rest.Config) (*relay, error) {
	onward, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	// What the client and the server agree on is not the relay's business.
	config.DisableCompression = true
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{url: "http://" + listener.Addr().String()}
	r.server = &http.Server{ReadHeaderTimeout: requestBound, Handler: &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(onward) },
		ModifyResponse: func(response *http.Response) error {
			r.note(response)
			return nil
		},
	}}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// note keeps a request with the status of its answer.
func (r *relay) note(response *http.Response) {
	line := fmt.Sprintf("%s %d", response.Request.URL.Path, response.StatusCode)
	r.mu.Lock()
	r.requests = append(r.requests, line)
	r.mu.Unlock()
}

// taken gives the requests since the last time.
func (r *relay) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := r.requests
	r.requests = nil
	slices.Sort(requests)
	return requests
}

func (r *relay) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.server.Shutdown(ctx)
}
