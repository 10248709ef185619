package etcdproxy

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
)

const (
	patience = 30 * time.Second
	// silence is how long an answer must not come.
	silence = 300 * time.Millisecond
	sv      = "/registry/storageversions/"
)

// proxied is an etcd, reached through the proxy and straight.
type proxied struct {
	*testing.T
	proxy    *Proxy
	client   *clientv3.Client
	straight *clientv3.Client
}

func (p *proxied) put(ctx context.Context, key, value string) error {
	_, err := p.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), ">", -1)).Then(clientv3.OpPut(key, value)).Commit()
	return err
}

func (p *proxied) has(ctx context.Context, key, value string) bool {
	found, err := p.straight.Get(ctx, key)
	if err != nil {
		p.Fatal(err)
	}
	return len(found.Kvs) == 1 && string(found.Kvs[0].Value) == value
}

func TestProxy(t *testing.T) {
	proxy, client, straight := before(t)
	p := &proxied{t, proxy, client, straight}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watched := client.Watch(ctx, sv, clientv3.WithPrefix())
	if err := p.put(ctx, sv+"a", "0"); err != nil || !p.has(ctx, sv+"a", "0") {
		t.Fatalf("without a fault: %v", err)
	}
	p.holdsWrites(ctx)
	p.failsRanges(ctx)
	p.carriesWatches(ctx, watched)
	// An error of etcd's own arrives as it is.
	if _, err := client.Get(ctx, ""); status.Code(err) != codes.InvalidArgument && !strings.Contains(err.Error(), "key is not provided") {
		t.Errorf("an empty key: %v", err)
	}
}

// holdsWrites holds writes to some keys: etcd gets them after the fault, unless their client
// has given up before.
func (p *proxied) holdsWrites(ctx context.Context) {
	p.proxy.Set(cluster.KeyFault{Requests: []cluster.KeyRequest{cluster.RequestTxn}, Prefixes: []string{sv}})
	if err := p.put(ctx, "/registry/leases/a", "1"); err != nil || !p.has(ctx, "/registry/leases/a", "1") {
		p.Errorf("another key: %v", err)
	}
	if _, err := p.client.Get(ctx, sv+"a"); err != nil {
		p.Errorf("another request: %v", err)
	}
	brief, gaveUp := context.WithCancel(ctx)
	given := make(chan error, 1)
	go func() { given <- p.put(brief, sv+"a", "given up") }()
	until(p.T, "the first request to be held", func() bool { return p.proxy.Stats().Met == 1 })
	gaveUp()
	if err := <-given; err == nil {
		p.Error("it was not held")
	}
	held := make(chan error, 1)
	go func() { held <- p.put(ctx, sv+"b", "held") }()
	until(p.T, "the request to be held", func() bool { return p.proxy.Stats().Met == 2 })
	if p.has(ctx, sv+"b", "held") {
		p.Error("what is held came to etcd")
	}
	p.proxy.Set(cluster.KeyFault{})
	if err := <-held; err != nil || !p.has(ctx, sv+"b", "held") {
		p.Errorf("healed: %v", err)
	}
	if !p.has(ctx, sv+"a", "0") {
		p.Error("what its client had given up came to etcd")
	}
}

// failsRanges fails reads that include some of the keys, and no writes.
func (p *proxied) failsRanges(ctx context.Context) {
	p.proxy.Set(cluster.KeyFault{Requests: []cluster.KeyRequest{cluster.RequestRange}, Prefixes: []string{sv}, Fail: true})
	defer p.proxy.Set(cluster.KeyFault{})
	// The library tries reads that were not available again, as long as it may.
	brief, gaveUp := context.WithTimeout(ctx, silence)
	defer gaveUp()
	if _, err := p.client.Get(brief, "/registry/", clientv3.WithPrefix()); err == nil {
		p.Error("a range around the keys did not fail")
	}
	if err := p.put(ctx, sv+"c", "1"); err != nil {
		p.Errorf("another request: %v", err)
	}
}

// carriesWatches expects the three writes of before from a watch.
func (p *proxied) carriesWatches(ctx context.Context, watched clientv3.WatchChan) {
	var seen []string
	for len(seen) < 3 {
		select {
		case response := <-watched:
			for _, event := range response.Events {
				seen = append(seen, strings.TrimPrefix(string(event.Kv.Key), sv))
			}
		case <-ctx.Done():
			p.Fatalf("a watch through the proxy told of %q only", seen)
		}
	}
	if got := strings.Join(seen, ""); got != "abc" {
		p.Errorf("a watch through the proxy told of %q", got)
	}
}

// before gives a proxy before an etcd, with a client of it and one that goes
// straight.
func before(t *testing.T) (proxy *Proxy, client, straight *clientv3.Client) {
	t.Helper()
	ca, err := pki.New(filepath.Join(t.TempDir(), "pki"), "test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue("etcd", pki.Subject{Name: "etcd", Server: true})
	if err != nil {
		t.Fatal(err)
	}
	asClient, err := ca.ClientTLS(pair)
	if err != nil {
		t.Fatal(err)
	}
	asServer, err := ca.ServerTLS(pair)
	if err != nil {
		t.Fatal(err)
	}
	config := embed.NewConfig()
	config.Dir, config.LogLevel, config.LogOutputs = t.TempDir(), "error", []string{filepath.Join(t.TempDir(), "log")}
	config.ListenClientUrls, _ = urls("https://127.0.0.1:0")
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls, _ = urls("http://127.0.0.1:0")
	config.ClientTLSInfo.CertFile, config.ClientTLSInfo.KeyFile = pair.CertFile, pair.KeyFile
	config.ClientTLSInfo.TrustedCAFile, config.ClientTLSInfo.ClientCertAuth = ca.File(), true
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	<-server.Server.ReadyNotify()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	etcd := server.Clients[0].Addr().String()
	proxy, err = New(Config{Listener: listener, Etcd: etcd, Server: asServer, Client: asClient})
	if err != nil {
		t.Fatal(err)
	}
	proxy.Start()
	t.Cleanup(proxy.Stop)
	connect := func(address string) *clientv3.Client {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + address}, TLS: asClient, DialTimeout: patience, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	return proxy, connect(proxy.Address()), connect(etcd)
}

func urls(one string) ([]url.URL, error) {
	parsed, err := url.Parse(one)
	return []url.URL{*parsed}, err
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
