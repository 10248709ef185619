package apiserver

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/etcd"
	"github.com/evenkeel/evenkeel/impl/release"
)

// Bounds of the live test. None is waited for while all goes well, so they are
// long enough for a machine that has much else to do.
const (
	liveBound = 2 * time.Minute
	liveRetry = 20 * time.Millisecond
	liveLease = time.Minute
)

// TestDiscoveryLive runs an etcd and two servers of different releases, with
// custom resources and an aggregated server that never answers.
func TestDiscoveryLive(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts real servers, which takes some seconds")
	}
	live := newLive(t)
	older := live.start("s1", "1.2")
	older.waitReady()
	for i := range 3 {
		older.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", fmt.Sprintf(`{
			"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.group%d.dev"},
			"spec":{"group":"group%d.dev","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","shortNames":["wd"],"categories":["all"]},
			"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
			{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, i, i))
	}
	older.create("/api/v1/namespaces/default/services", fmt.Sprintf(`{
		"apiVersion":"v1","kind":"Service","metadata":{"name":"hanging"},"spec":{"type":"ExternalName","externalName":"localhost","ports":[{"port":%d}]}}`, live.hanging))
	older.create("/apis/apiregistration.k8s.io/v1/apiservices", fmt.Sprintf(`{
		"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.hanging.dev"},
		"spec":{"group":"hanging.dev","version":"v1","groupPriorityMinimum":2000,"versionPriority":10,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"hanging","port":%d}}}`, live.hanging))
	custom := []string{"group0.dev/v1", "group0.dev/v1beta1", "group1.dev/v1", "group1.dev/v1beta1", "group2.dev/v1", "group2.dev/v1beta1"}
	live.until("the CRDs are listed", func() error { return lacks(older.states(local), custom, apidiscoveryv2.DiscoveryFreshnessCurrent) })

	// AD-14, AD-15, AD-16: at its first ready moment a server lists everything
	// that is local, and an aggregated server that is dead holds nothing up.
	newer := live.start("s2", "1.3")
	began := time.Now()
	newer.waitReady()
	states := newer.states(local)
	t.Logf("ready after %s", time.Since(began).Round(time.Millisecond))
	if err := lacks(states, append([]string{"reference.evenkeel.dev/v1", "apiregistration.k8s.io/v1", "coordination.k8s.io/v1"}, custom...), apidiscoveryv2.DiscoveryFreshnessCurrent); err != nil {
		t.Errorf("at its first ready moment: %v", err)
	}
	if err := lacks(states, []string{"hanging.dev/v1"}, apidiscoveryv2.DiscoveryFreshnessStale); err != nil {
		t.Errorf("at its first ready moment: %v", err)
	}
	for _, s := range []*liveServer{older, newer} {
		s.compareWithUnaggregated()
	}

	// AD-23: the union, the same on both, and what it lists can be used.
	const alpha = "reference.evenkeel.dev/v1alpha1"
	live.until("the union is the same on both", func() error {
		if err := lacks(newer.states(""), []string{alpha}, apidiscoveryv2.DiscoveryFreshnessCurrent); err != nil {
			return err
		}
		if one, other := older.tag(), newer.tag(); one != other {
			return fmt.Errorf("tags %s and %s", one, other)
		}
		return nil
	})
	if err := lacks(newer.states(local), []string{alpha}, apidiscoveryv2.DiscoveryFreshnessCurrent); err == nil {
		t.Error("the local view tells of a peer")
	}
	newer.create("/apis/"+alpha+"/namespaces/default/ballasts", `{"apiVersion":"`+alpha+`","kind":"Ballast","metadata":{"name":"b"},"spec":{"weight":"3t","place":"aft"}}`)
	if got := newer.get("/apis/"+alpha+"/namespaces/default/ballasts/b", "application/json"); !strings.Contains(got, `"3t"`) {
		t.Errorf("through the newer server: %s", got)
	}
	if got := newer.get("/apis/reference.evenkeel.dev/v1/namespaces/default/ballasts/b", "application/json"); !strings.Contains(got, "3000") {
		t.Errorf("in its own version: %s", got)
	}
	if got := newer.get("/apis/"+alpha, "application/json"); !strings.Contains(got, `"ballasts"`) {
		t.Errorf("description of a peer's version: %s", got)
	}

	// AD-24: what only the peer hosted goes with it.
	older.stop()
	// As the remaining server does once the Lease has expired.
	newer.remove("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/s1")
	live.until("the union has shrunk", func() error {
		if lacks(newer.states(""), []string{alpha}, apidiscoveryv2.DiscoveryFreshnessCurrent) == nil {
			return fmt.Errorf("%s is still listed", alpha)
		}
		return nil
	})
}

// local asks for what a server hosts without its peers.
const local = ";profile=nopeer"

// lacks says which of the group-versions is not listed in a state.
func lacks(states map[string]apidiscoveryv2.DiscoveryFreshness, wanted []string, state apidiscoveryv2.DiscoveryFreshness) error {
	for _, version := range wanted {
		if states[version] != state {
			return fmt.Errorf("%s is %q, want %q", version, states[version], state)
		}
	}
	return nil
}

type liveTest struct {
	*testing.T
	client     *http.Client
	dir        string
	ca         *x509.Certificate
	caKey      *ecdsa.PrivateKey
	etcd       string
	hanging    int
	ports      []string
	nextSerial int64
}

type liveServer struct {
	*liveTest
	url  string
	stop func()
}

func newLive(t *testing.T) *liveTest {
	t.Helper()
	l := &liveTest{T: t, dir: t.TempDir()}
	l.ca, l.caKey = l.authority()
	l.pair("server", "server", "")
	l.pair("proxy", "front-proxy", "")
	l.pair("admin", "admin", "system:masters")
	admin, err := tls.LoadX509KeyPair(l.file("admin.crt"), l.file("admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(l.ca)
	l.client = &http.Client{Timeout: liveBound, Transport: &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{admin}, RootCAs: pool}}}

	silent, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	l.hanging = silent.Addr().(*net.TCPAddr).Port

	clients, peers := "https://127.0.0.1:"+l.freePort(), "https://127.0.0.1:"+l.freePort()
	l.etcd = clients
	l.background("etcd", func(ctx context.Context) error {
		return etcd.Run(ctx, etcd.Options{
			Name: "etcd", DataDir: l.file("etcd"), ClusterToken: "live", InitialCluster: "etcd=" + peers,
			ListenClientURL: clients, AdvertiseClientURL: clients, ListenPeerURL: peers, AdvertisePeerURL: peers,
			CAFile: l.file("ca.crt"), CertFile: l.file("server.crt"), KeyFile: l.file("server.key"),
		})
	})
	return l
}

// background runs something until it is stopped or the test ends.
func (l *liveTest) background(name string, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); err != nil && ctx.Err() == nil {
			l.Errorf("%s: %v", name, err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	l.Cleanup(stop)
	return stop
}

func (l *liveTest) start(id, played string, changes ...func(*Options)) *liveServer {
	l.Helper()
	return l.startAt(id, played, l.freePort(), changes...)
}

func (l *liveTest) startAt(id, played, on string, changes ...func(*Options)) *liveServer {
	l.Helper()
	r, err := release.Lookup(played)
	if err != nil {
		l.Fatal(err)
	}
	port, err := strconv.Atoi(on)
	if err != nil {
		l.Fatal(err)
	}
	o := Options{
		Release: r, Hostname: id, ServerID: id, BindAddress: "127.0.0.1", SecurePort: port,
		TLSCertFile: l.file("server.crt"), TLSKeyFile: l.file("server.key"), ClientCAFile: l.file("ca.crt"),
		EtcdServers: []string{l.etcd}, EtcdCAFile: l.file("ca.crt"), EtcdCertFile: l.file("server.crt"), EtcdKeyFile: l.file("server.key"),
		PeerCAFile: l.file("ca.crt"), ProxyClientCertFile: l.file("proxy.crt"), ProxyClientKeyFile: l.file("proxy.key"),
		RequestHeaderClientCAFile: l.file("ca.crt"), RequestHeaderAllowedNames: []string{"front-proxy"},
		IdentityLeaseDuration: liveLease, IdentityLeaseRenewInterval: liveLease / 3,
	}
	for _, change := range changes {
		change(&o)
	}
	return &liveServer{liveTest: l, url: fmt.Sprintf("https://127.0.0.1:%d", port), stop: l.background(id, func(ctx context.Context) error { return Run(ctx, o) })}
}

// until waits for something to hold.
func (l *liveTest) until(what string, holds func() error) {
	l.Helper()
	deadline := time.After(liveBound)
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-time.After(liveRetry):
		case <-deadline:
			l.Fatalf("waited %s until %s: %v", liveBound, what, err)
		}
	}
}

func (s *liveServer) waitReady() {
	s.Helper()
	s.until("the server is ready", func() error {
		response, err := s.client.Get(s.url + "/readyz")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", response.Status, body)
		}
		return err
	})
}

func (s *liveServer) ask(path, accept string) (*http.Response, string) {
	s.Helper()
	request, err := http.NewRequest(http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	return s.send(request)
}

func (s *liveServer) get(path, accept string) string {
	s.Helper()
	response, body := s.ask(path, accept)
	if response.StatusCode != http.StatusOK {
		s.Errorf("%s: %s: %s", path, response.Status, body)
	}
	return body
}

func (s *liveServer) create(path, object string) {
	s.Helper()
	s.until("it can be created in "+path, func() error {
		response, err := s.client.Post(s.url+path, "application/json", strings.NewReader(object))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusCreated {
			return fmt.Errorf("%s: %s", response.Status, body)
		}
		return nil
	})
}

func (s *liveServer) remove(path string) {
	s.Helper()
	if code, body := s.do(http.MethodDelete, path, "", ""); code != http.StatusOK {
		s.Fatalf("%s: %d: %s", path, code, body)
	}
}

// do sends a request once.
func (s *liveServer) do(method, path, contentType, body string) (code int, answer string) {
	s.Helper()
	request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, read := s.send(request)
	return response.StatusCode, read
}

func (s *liveServer) send(request *http.Request) (*http.Response, string) {
	s.Helper()
	response, err := s.client.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response, string(body)
}

const aggregatedV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func (s *liveServer) aggregated(path, profile string) apidiscoveryv2.APIGroupDiscoveryList {
	s.Helper()
	var list apidiscoveryv2.APIGroupDiscoveryList
	s.decode(s.get(path, aggregatedV2+profile), &list)
	return list
}

func (s *liveServer) decode(body string, into any) {
	s.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		s.Fatal(err)
	}
}

func (s *liveServer) tag() string {
	s.Helper()
	response, _ := s.ask("/apis", aggregatedV2)
	return response.Header.Get("ETag")
}

func (s *liveServer) states(profile string) map[string]apidiscoveryv2.DiscoveryFreshness {
	s.Helper()
	states := map[string]apidiscoveryv2.DiscoveryFreshness{}
	for _, group := range s.aggregated("/apis", profile).Items {
		for _, version := range group.Versions {
			states[group.Name+"/"+version.Version] = version.Freshness
		}
	}
	return states
}

// compareWithUnaggregated checks AD-10 and AD-11: both forms tell the same.
func (s *liveServer) compareWithUnaggregated() {
	s.Helper()
	var groups metav1.APIGroupList
	s.decode(s.get("/apis", "application/json"), &groups)
	list := s.aggregated("/apis", local)
	if len(groups.Groups) != len(list.Items) {
		s.Fatalf("%d groups and %d groups", len(groups.Groups), len(list.Items))
	}
	for i, group := range list.Items {
		var one metav1.APIGroup
		s.decode(s.get("/apis/"+group.Name, "application/json"), &one)
		for _, plain := range []metav1.APIGroup{groups.Groups[i], one} {
			if plain.Name != group.Name || plain.PreferredVersion.Version != group.Versions[0].Version || len(plain.Versions) != len(group.Versions) {
				s.Errorf("group %s: %+v", group.Name, plain)
			}
		}
		for j, version := range group.Versions {
			if one.Versions[j].Version != version.Version {
				s.Errorf("group %s: version %d is %s and %s", group.Name, j, one.Versions[j].Version, version.Version)
			}
			if version.Freshness == apidiscoveryv2.DiscoveryFreshnessCurrent {
				s.compareResources("/apis/"+group.Name+"/"+version.Version, metav1.GroupVersion{Group: group.Name, Version: version.Version}, version)
			}
		}
	}
	core := s.aggregated("/api", "")
	if len(core.Items) != 1 || len(core.Items[0].Versions) != 1 {
		s.Fatalf("core: %+v", core)
	}
	s.compareResources("/api/v1", metav1.GroupVersion{Version: "v1"}, core.Items[0].Versions[0])
	if got := s.get("/api", "application/json"); !strings.Contains(got, `"APIVersions"`) {
		s.Errorf("core, not aggregated: %s", got)
	}
}

func (s *liveServer) compareResources(path string, own metav1.GroupVersion, version apidiscoveryv2.APIVersionDiscovery) {
	s.Helper()
	var plain metav1.APIResourceList
	s.decode(s.get(path, "application/json"), &plain)
	var got, want []string
	describe := func(name string, kind metav1.GroupVersionKind, namespaced bool, verbs, more []string) string {
		return fmt.Sprintf("%s %s/%s %s %t %v %v", name, kind.Group, kind.Version, kind.Kind, namespaced, slices.Sorted(slices.Values(verbs)), more)
	}
	for _, r := range plain.APIResources {
		kind := metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		if kind.Group == "" && kind.Version == "" {
			kind.Group, kind.Version = own.Group, own.Version
		}
		more := slices.Concat([]string{r.SingularName}, r.ShortNames, r.Categories)
		if strings.Contains(r.Name, "/") {
			more = nil
		}
		want = append(want, describe(r.Name, kind, r.Namespaced, r.Verbs, more))
	}
	for _, r := range version.Resources {
		namespaced := r.Scope == apidiscoveryv2.ScopeNamespace
		got = append(got, describe(r.Resource, *r.ResponseKind, namespaced, r.Verbs, slices.Concat([]string{r.SingularResource}, r.ShortNames, r.Categories)))
		for _, sub := range r.Subresources {
			got = append(got, describe(r.Resource+"/"+sub.Subresource, *sub.ResponseKind, namespaced, sub.Verbs, nil))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(got) == 0 || !slices.Equal(got, want) {
		s.Errorf("%s:\naggregated     %q\nnot aggregated %q", path, got, want)
	}
}

func (l *liveTest) file(name string) string { return filepath.Join(l.dir, name) }

// freePort returns a port that a server can listen on later, and again after a restart.
// It is below the kernel's ephemeral ports: another process could get an ephemeral port
// before the server listens.
func (l *liveTest) freePort() string {
	l.Helper()
	const first, count = 10000, 5000
	for range count {
		port := strconv.Itoa(first + mathrand.IntN(count))
		if slices.Contains(l.ports, port) {
			continue
		}
		if listener, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			listener.Close()
			l.ports = append(l.ports, port)
			return port
		}
	}
	l.Fatalf("no port from %d to %d is free", first, first+count-1)
	return ""
}

func (l *liveTest) authority() (*x509.Certificate, *ecdsa.PrivateKey) {
	l.Helper()
	template := l.template("authority", "")
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	key := l.key()
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		l.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		l.Fatal(err)
	}
	l.write("ca.crt", "CERTIFICATE", der)
	return certificate, key
}

// pair issues a certificate for clients and servers.
func (l *liveTest) pair(name, subject, organization string) {
	l.Helper()
	template := l.template(subject, organization)
	key := l.key()
	der, err := x509.CreateCertificate(rand.Reader, template, l.ca, key.Public(), l.caKey)
	if err != nil {
		l.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		l.Fatal(err)
	}
	l.write(name+".crt", "CERTIFICATE", der)
	l.write(name+".key", "PRIVATE KEY", raw)
}

func (l *liveTest) template(subject, organization string) *x509.Certificate {
	l.nextSerial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(l.nextSerial), Subject: pkix.Name{CommonName: subject},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	if organization != "" {
		template.Subject.Organization = []string{organization}
	}
	return template
}

func (l *liveTest) key() *ecdsa.PrivateKey {
	l.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		l.Fatal(err)
	}
	return key
}

func (l *liveTest) write(name, kind string, der []byte) {
	l.Helper()
	var out bytes.Buffer
	if err := pem.Encode(&out, &pem.Block{Type: kind, Bytes: der}); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(l.file(name), out.Bytes(), 0o600); err != nil {
		l.Fatal(err)
	}
}
