package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// The files as kind writes them, with what varies left to fill in.
const (
	bootstrapFile = `
node: {cluster: c, id: lb}
dynamic_resources:
  cds_config:
    resource_api_version: V3
    path_config_source: {path: %s}
  lds_config:
    resource_api_version: V3
    path_config_source: {path: %s}
admin: {access_log_path: /dev/stdout}
`
	listenersFile = `
resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: listener_apiserver
  address:
    socket_address: {address: "127.0.0.1", port_value: %d}
  filter_chains:
  - filters: [{name: envoy.filters.network.tcp_proxy}]
`
	clustersFile = `
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: kube_apiservers
  connect_timeout: 0.25s
  type: STRICT_DNS
  lb_policy: ROUND_ROBIN
  health_checks:
  - timeout: 3s
    interval: %s
    unhealthy_threshold: 2
    healthy_threshold: 1
    http_health_check: {path: /healthz}
  load_assignment:
    endpoints:
    - lb_endpoints:%s
`
	emptyFile = "resources: []"
	// long is a check interval that no test waits for.
	long = "1h"
)

func clusters(interval string, addresses ...string) string {
	var endpoints strings.Builder
	for _, address := range addresses {
		host, port, _ := net.SplitHostPort(address)
		fmt.Fprintf(&endpoints, "\n      - endpoint: {address: {socket_address: {address: %q, port_value: %s}}}", host, port)
	}
	return fmt.Sprintf(clustersFile, interval, endpoints.String())
}

func write(t *testing.T, path, content string) {
	t.Helper()
	// As kind does it: the file is never there in part.
	if err := os.WriteFile(path+".tmp", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T) (bootstrap string, from sources) {
	t.Helper()
	dir := t.TempDir()
	bootstrap = filepath.Join(dir, "envoy.yaml")
	from = sources{clusters: filepath.Join(dir, "cds.yaml"), listeners: filepath.Join(dir, "lds.yaml")}
	write(t, bootstrap, fmt.Sprintf(bootstrapFile, from.clusters, from.listeners))
	write(t, from.clusters, emptyFile)
	write(t, from.listeners, emptyFile)
	return bootstrap, from
}

func TestFilesAreRead(t *testing.T) {
	bootstrap, from := files(t)
	read, err := readBootstrap(bootstrap)
	if err != nil || read != from {
		t.Fatalf("%+v, %v", read, err)
	}
	if c, err := from.read(); err != nil || !c.equal(config{}) {
		t.Errorf("empty files: %+v, %v", c, err)
	}
	write(t, from.listeners, fmt.Sprintf(listenersFile, 6443))
	write(t, from.clusters, clusters("2s", "cp1:6443", "cp2:6443"))
	want := config{
		listen: "127.0.0.1:6443", backends: []string{"cp1:6443", "cp2:6443"}, connectTimeout: 250 * time.Millisecond,
		check: check{path: "/healthz", timeout: 3 * time.Second, interval: 2 * time.Second, healthy: 1, unhealthy: 2},
	}
	if c, err := from.read(); err != nil || !c.equal(want) {
		t.Errorf("%+v, %v; want %+v", c, err, want)
	}
	write(t, from.clusters, "resources: [{}, {}]")
	if _, err := from.read(); err == nil || !strings.Contains(err.Error(), "more than one") {
		t.Errorf("two clusters: %v", err)
	}
	write(t, from.clusters, "{")
	if _, err := from.read(); err == nil {
		t.Error("half a file was taken")
	}
	write(t, bootstrap, "admin: {}")
	if _, err := readBootstrap(bootstrap); err == nil {
		t.Error("a bootstrap without files was taken")
	}
}

func TestOrder(t *testing.T) {
	all := []string{"a", "b", "c"}
	for _, tc := range []struct {
		healthy string
		turn    int
		want    []string
	}{
		{"abc", 0, []string{"a", "b", "c"}},
		{"abc", 1, []string{"b", "c", "a"}},
		{"abc", 5, []string{"c", "a", "b"}},
		{"ac", 1, []string{"c", "a", "b"}},
		{"", 2, []string{"c", "a", "b"}},
	} {
		got := order(all, func(backend string) bool { return strings.Contains(tc.healthy, backend) }, tc.turn)
		if !slices.Equal(got, tc.want) {
			t.Errorf("healthy %q at turn %d: %v, want %v", tc.healthy, tc.turn, got, tc.want)
		}
	}
	if got := order(nil, nil, 3); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestHealthChangesAtItsThreshold(t *testing.T) {
	rule := check{healthy: 1, unhealthy: 2}
	var h health
	for i, step := range []struct{ ok, healthy, changed bool }{
		{false, false, false},
		{true, true, true},
		{false, true, false},
		{true, true, false}, // A success in between: failures count anew.
		{false, true, false},
		{false, false, true},
		{true, true, true},
	} {
		var changed bool
		if h, changed = h.observe(step.ok, rule); h.healthy != step.healthy || changed != step.changed {
			t.Fatalf("check %d: healthy %v, changed %v; want %+v", i, h.healthy, changed, step)
		}
	}
}

// member answers with its name over TLS; ill ones fail their health check.
func member(t *testing.T, name string, ill *atomic.Bool) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && ill.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func ask(t *testing.T, address string) (string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		//nolint:gosec // G402: the members make their own certificates.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	response, err := client.Get("https://" + address + "/")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// served runs a balancer and gives what it says, line by line.
func served(t *testing.T, c config) (address string, lines <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(ctx, c, listener, func(line string) { said <- line })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return listener.Addr().String(), said
}

func await(t *testing.T, lines <-chan string, want string) {
	t.Helper()
	for {
		select {
		case line := <-lines:
			if strings.Contains(line, want) {
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing said %q", want)
		}
	}
}

func TestConnectionsGoRoundAndAvoidTheIll(t *testing.T) {
	var well, ill atomic.Bool
	a, b := member(t, "a", &well), member(t, "b", &ill)
	c := config{
		backends: []string{a, b}, connectTimeout: time.Second,
		check: check{path: "/healthz", timeout: 3 * time.Second, interval: 5 * time.Millisecond, healthy: 1, unhealthy: 2},
	}
	address, lines := served(t, c)
	await(t, lines, "healthy: true")
	await(t, lines, "healthy: true")
	count := map[string]int{}
	for range 6 {
		name, err := ask(t, address)
		if err != nil {
			t.Fatal(err)
		}
		count[name]++
	}
	if count["a"] != 3 || count["b"] != 3 {
		t.Errorf("connections went to %v", count)
	}
	ill.Store(true)
	await(t, lines, b+" healthy: false")
	for range 4 {
		if name, err := ask(t, address); err != nil || name != "a" {
			t.Errorf("went to %q, %v", name, err)
		}
	}
}

func TestADeadBackendIsPassedOver(t *testing.T) {
	var well atomic.Bool
	// No server listens there, and the kernel gives that port to no server that asks for any.
	const closed = "127.0.0.1:1"
	address, _ := served(t, config{backends: []string{closed, member(t, "a", &well)}, connectTimeout: time.Second})
	for range 4 {
		if name, err := ask(t, address); err != nil || name != "a" {
			t.Errorf("went to %q, %v", name, err)
		}
	}
	address, lines := served(t, config{backends: []string{closed}, connectTimeout: time.Second})
	if _, err := ask(t, address); err == nil {
		t.Error("no backend takes connections, and the balancer answered")
	}
	await(t, lines, "no backend takes a connection")
}

// One way may end before the other, as when a client has sent all it had.
func TestTheEndOfOneWayIsPassedOn(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		server, err := echo.Accept()
		if err != nil {
			return
		}
		defer server.Close()
		whole, _ := io.ReadAll(server)
		_, _ = server.Write(bytes.ToUpper(whole)) // where this fails, the client misses it
	}()
	address, _ := served(t, config{backends: []string{echo.Addr().String()}, connectTimeout: time.Second})
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := io.WriteString(client, "all"); err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(client); err != nil || string(answer) != "ALL" {
		t.Errorf("%q, %v", answer, err)
	}
}

func TestFilesAreFollowed(t *testing.T) {
	var well atomic.Bool
	bootstrap, from := files(t)
	// They listen before the port is given back, which one of them could get.
	first, second := member(t, "first", &well), member(t, "second", &well)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- run(ctx, bootstrap, clock.RealClock{}) }()
	write(t, from.listeners, fmt.Sprintf(listenersFile, port))
	for _, next := range []struct{ name, address string }{{"first", first}, {"second", second}} {
		name := next.name
		write(t, from.clusters, clusters(long, next.address))
		deadline := time.Now().Add(10 * time.Second)
		for got := ""; got != name; got, _ = ask(t, fmt.Sprintf("127.0.0.1:%d", port)) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not reached", name)
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := run(t.Context(), "", clock.RealClock{}); err == nil {
		t.Error("ran without a file")
	}
}
