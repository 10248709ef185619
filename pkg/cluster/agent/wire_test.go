//go:build linux

package agent

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

// wire remembers all that an agent answers: the bodies, and the headers and trailers.
type wire struct {
	mu   sync.Mutex
	sent []byte
}

// tap is between an agent's handler and the connection.
func (w *wire) tap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&tapped{ResponseWriter: to, wire: w}, r)
		w.add(fmt.Appendf(nil, "%v", to.Header()))
	})
}

func (w *wire) add(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, p...)
}

type tapped struct {
	http.ResponseWriter
	wire *wire
}

func (t *tapped) Unwrap() http.ResponseWriter { return t.ResponseWriter }
func (t *tapped) Flush()                      { _ = http.NewResponseController(t.ResponseWriter).Flush() }
func (t *tapped) Write(p []byte) (int, error) {
	t.wire.add(p)
	return t.ResponseWriter.Write(p)
}

func (w *wire) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(string(w.sent), text)
}

// forms are those in which a canary would be recognized.
func forms(canary string) []string {
	return []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), hex.EncodeToString([]byte(canary))}
}

func randomText(t *testing.T) string {
	t.Helper()
	raw := make([]byte, 24)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(raw)
}

// etcdClient is the harness's client of the etcd behind an agent.
func (a *installedAgent) etcdClient() *clientv3.Client {
	a.t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"https://" + ServerName + ":18990"}, TLS: a.secured(HarnessName), DialTimeout: dialBound, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return a.dial(ctx) })},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = client.Close() })
	return client
}

// withEtcd has an agent read a real etcd, and gives a client of that etcd itself.
func withEtcd(t *testing.T, config *Installed) (change func(*Service), direct *clientv3.Client) {
	t.Helper()
	real := etcdtest.Start(t)
	real.Logger = zap.NewNop()
	direct, err := clientv3.New(real)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = direct.Close() })
	config.Etcd = &EtcdAccess{Endpoint: "http://" + real.Endpoints[0]}
	return func(s *Service) { s.etcd.secure = func(EtcdAccess) (*tls.Config, error) { return nil, nil } }, direct
}

// A random text in a Secret, in objects of users, in a manifest, in keys and in a log is in
// nothing that the agent sends, whatever the harness asks for.
func TestWire_CarriesNoSecret(t *testing.T) {
	config := configured(t, cluster.RungDisrupt, "none")
	change, direct := withEtcd(t, &config)
	canary := randomText(t)
	put(t, direct, map[string]string{
		"/registry/secrets/default/" + canary: canary, "/registry/configmaps/default/x": canary, "/registry/widgets.example.com/widgets/default/" + canary: canary,
		"/registry/leases/default/" + canary: canary, "/registry/apiextensions.k8s.io/customresourcedefinitions/" + canary + ".example.com": canary,
		"/elsewhere/" + canary: canary, "/registry/storageversions/shown": "a storage version", "/kubernetes.io/secrets/default/" + canary: canary,
	})
	if err := os.WriteFile(filepath.Join(config.Manifests, "etcd.yaml"), []byte("token: "+canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(config.Logs, "kube-system_etcd-node-1_uid", "etcd")
	others := filepath.Join(config.Logs, "default_etcd-0_uid", "etcd")
	for folder, line := range map[string]string{log: "Authorization: Bearer " + canary + " sent", others: "a user's own etcd says " + canary} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "0.log"), []byte(time.Now().UTC().Format(time.RFC3339Nano)+" stderr F "+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	tap := &wire{}
	a := serveInstalled(t, config, func(s *Service) { change(s); s.wrap = tap.tap })
	client := a.client("r1")
	if err := client.Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	// Everything that there is to ask.
	_, _ = client.Who(t.Context())
	_, _ = client.Manifest(t.Context(), cluster.Etcd)
	_, _ = client.CPUWaits(t.Context())
	_ = client.Health(t.Context(), cluster.Etcd)
	_, _ = client.End(t.Context(), cluster.Etcd, 15, true)
	_ = client.Restore(t.Context(), cluster.Etcd)
	read(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	logged := make(chan string, 1)
	go func() {
		_ = client.Logs(ctx, cluster.Etcd, time.Now().Add(-time.Minute), func(chunk LogChunk) { logged <- chunk.Text })
	}()
	if text := <-logged; !strings.Contains(text, "sent") || strings.Contains(text, canary) {
		t.Errorf("the log is %q", text)
	}
	cancel()
	watched(t, a, direct, canary)

	if !tap.has("a storage version") {
		t.Error("what may leave the node does not: the tap hears nothing")
	}
	for _, form := range forms(canary) {
		if tap.has(form) {
			t.Errorf("the agent has sent %q", form)
		}
	}
}

func put(t *testing.T, client *clientv3.Client, all map[string]string) {
	t.Helper()
	for key, value := range all {
		if _, err := client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
}

// read asks an agent for all of etcd in one go, and for single keys of it.
func read(t *testing.T, a *installedAgent) {
	t.Helper()
	client := a.etcdClient()
	all, err := client.Get(t.Context(), "/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for _, kv := range all.Kvs {
		if string(kv.Key) == "/registry/storageversions/shown" {
			continue
		}
		if !strings.HasPrefix(string(kv.Key), WithheldPrefix) || kv.ModRevision == 0 || kv.Version != 1 {
			t.Errorf("it shows %v", kv)
		}
		if len(kv.Value) > 0 {
			values++
		}
	}
	// Of the Secrets not even their content's hash is there.
	if len(all.Kvs) != 8 || values != 5 {
		t.Errorf("it shows %d keys, and %d with the hash of a value", len(all.Kvs), values)
	}
	for _, key := range []string{"/registry/secrets/default/", "/registry/configmaps/default/x"} {
		if _, err := client.Get(t.Context(), key, clientv3.WithPrefix()); err != nil {
			t.Error(err)
		}
	}
	if sorted, err := client.Get(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByValue, clientv3.SortAscend)); err == nil {
		t.Errorf("it shows the order of contents: %v", sorted.Kvs)
	}
	_, hashed := client.HashKV(t.Context(), client.Endpoints()[0], 0)
	_, told := client.Status(t.Context(), client.Endpoints()[0])
	_, alarms := client.AlarmList(t.Context())
	_, members := client.MemberList(t.Context())
	if err := errors.Join(hashed, told, alarms, members); err != nil {
		t.Error(err)
	}
}

// watched has an agent tell of changes, of what came before too.
func watched(t *testing.T, a *installedAgent, direct *clientv3.Client, canary string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes := a.etcdClient().Watch(clientv3.WithRequireLeader(ctx), "/", clientv3.WithPrefix(), clientv3.WithRev(1), clientv3.WithPrevKV())
	for key, value := range map[string]string{"/registry/secrets/default/" + canary: canary + "2", "/registry/storageversions/shown": "another"} {
		if _, err := direct.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := direct.Delete(t.Context(), "/registry/secrets/default/"+canary); err != nil {
		t.Fatal(err)
	}
	var revisions []int64
	for response := range changes {
		if err := response.Err(); err != nil {
			t.Fatal(err)
		}
		for _, event := range response.Events {
			revisions = append(revisions, event.Kv.ModRevision)
		}
		if len(revisions) == 11 {
			break
		}
	}
	if !slices.IsSorted(revisions) || revisions[10]-revisions[0] != 10 {
		t.Errorf("the revisions are %v: one is missing", revisions)
	}
}

// Only reading exists, whatever a client of etcd can ask for.
func TestEtcdView_CannotBeWrittenTo(t *testing.T) {
	config := configured(t, cluster.RungDisrupt, "none")
	change, direct := withEtcd(t, &config)
	client := serveInstalled(t, config, change).etcdClient()
	ctx, cancel := context.WithTimeout(t.Context(), eventuallyBound)
	defer cancel()
	_, put := client.Put(ctx, "/registry/storageversions/x", "y")
	_, deleted := client.Delete(ctx, "/", clientv3.WithPrefix())
	_, txn := client.Txn(ctx).Then(clientv3.OpGet("/registry/secrets/", clientv3.WithPrefix())).Commit()
	_, compacted := client.Compact(ctx, 1)
	_, lease := client.Grant(ctx, 60)
	_, member := client.MemberAdd(ctx, []string{"http://127.0.0.1:1"})
	_, removed := client.MemberRemove(ctx, 1)
	for what, err := range map[string]error{"put": put, "delete": deleted, "transaction": txn, "compaction": compacted, "lease": lease, "member": member, "removal": removed} {
		if err == nil || !strings.Contains(err.Error(), "Unimplemented") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if list, err := client.MemberList(ctx); err != nil || len(list.Members) != 1 || list.Members[0].ID == 0 || list.Members[0].Name != "" || len(list.Members[0].PeerURLs)+len(list.Members[0].ClientURLs) > 0 {
		t.Errorf("of the members it tells %v, %v", list, err)
	}
	if response, err := direct.Get(ctx, "/", clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || response.Count != 0 {
		t.Errorf("there are %v, %v", response, err)
	}
}

func TestShown(t *testing.T) {
	for key, want := range map[string]bool{
		"/registry/storageversions/apps.deployments":                                      true,
		"/registry/leases/kube-system/apiserver-x":                                        true,
		"/registry/leases/default/x":                                                      false,
		"/registry/leasecandidates/kube-system/x":                                         true,
		"/registry/storageversionmigrations/x":                                            true,
		"/registry/lights.evenkeel.dev/lights/x":                                          true,
		"/registry/apiextensions.k8s.io/customresourcedefinitions/lights.evenkeel.dev":    true,
		"/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com":    false,
		"/registry/widgets.example.com/widgets/x.evenkeel.dev":                            false,
		"/registry/secrets/x.evenkeel.dev/y":                                              false,
		"/registry/core/secrets/evenkeel-x/y":                                             false,
		"/registry/secrets/kube-system/x":                                                 false,
		"/x.evenkeel.dev/y":                                                               false,
		"x.evenkeel.dev/":                                                                 false,
		"/registry/configmaps/evenkeel-quick-1/x":                                         true,
		"/registry/namespaces/evenkeel-quick-1":                                           true,
		"/registry/storage.k8s.io/volumeattributesclasses/evenkeel-quick-1-cp1-t0":        true,
		"/registry/secrets/evenkeel-quick-1/x":                                            false,
		"/registry/configmaps/evenkeel-agent/agent":                                       false,
		"/registry/namespaces/evenkeel-agent":                                             false,
		"/registry/evenkeel-x/y":                                                          false,
		"/registry/":                                                                      false,
		"":                                                                                false,
		"/registry/serviceaccounts/evenkeel-agent/default":                                false,
		"/registry/apiextensions.k8s.io/customresourcedefinitions/x.evenkeel.dev.example": false,
	} {
		if got := shown(key); got != want {
			t.Errorf("%q: %t", key, got)
		}
	}
}

func TestService_RefusesAShortSalt(t *testing.T) {
	if err := checkSalt([]byte("short")); err == nil || !strings.Contains(err.Error(), fmt.Sprint(saltLength)) {
		t.Errorf("%v", err)
	}
}
