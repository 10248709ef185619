package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/controllermanager"
	"github.com/evenkeel/evenkeel/impl/release"
)

const (
	aggregatedGroup = "/apis/" + release.AggregatedGroup
	aggregatedName  = release.AggregatedGroup + ".ballasts"
	migrationsPath  = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
)

// TestAggregatedLive runs an etcd, an API server, and an aggregated server that
// publishes in which version it stores its resource, is upgraded, and has its
// objects migrated.
func TestAggregatedLive(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts real servers, which takes some seconds")
	}
	live := newLive(t)
	main, at := live.at("s1", "1.3")
	port, err := strconv.Atoi(live.freePort())
	if err != nil {
		t.Fatal(err)
	}

	// It holds writes back until it has registered, which it cannot do yet.
	sample := live.joined("stowage-1", "1.2", port, at)
	const v1beta1 = aggregatedGroup + "/v1beta1/namespaces/default/ballasts"
	object := func(name string) string {
		return `{"apiVersion":"` + release.AggregatedGroup + `/v1beta1","kind":"Ballast","metadata":{"name":"` + name + `"},"spec":{"kilograms":3000,"position":"aft"}}`
	}
	live.until("a write is held back", func() error {
		return sample.answers(http.MethodPost, v1beta1, object("early"), http.StatusServiceUnavailable)
	})
	// A list is answered with 429 until the watch cache has been filled from etcd.
	live.until("a read is answered", func() error {
		return sample.answers(http.MethodGet, v1beta1, "", http.StatusOK)
	})
	if err := sample.answers(http.MethodGet, "/readyz", "", http.StatusInternalServerError); err != nil {
		t.Error(err)
	}
	main()
	server := &liveServer{liveTest: live, url: at}
	server.waitReady()
	sample.waitReady()
	server.joins(port)
	live.until("it is listed", func() error {
		return lacks(server.states(local), []string{release.AggregatedGroup + "/v1beta1"}, "Current")
	})

	// What it stores is published under its own identity, and agreed: the API server
	// does not host it.
	live.until("its storage version is agreed", func() error { return server.agreedOn(aggregatedName, "stowage-1", release.AggregatedGroup+"/v1beta1") })
	// No agreement waits for a server that does not host the resource.
	live.until("the API server's own resource is agreed", func() error { return server.agreedOn(release.Group+".ballasts", "s1", release.Group+"/v1") })
	for i := range 20 {
		server.create(v1beta1, object(fmt.Sprintf("b%d", i)))
	}
	if got := live.versions(); len(got) != 1 || got[release.AggregatedGroup+"/v1beta1"] != 20 {
		t.Fatalf("stored are %v", got)
	}

	// Upgraded it stores another version, which is agreed, and what is stored is
	// migrated through the API server.
	sample.stop()
	sample = live.joined("stowage-1", "1.3", port, at)
	sample.waitReady()
	live.until("the newer version is agreed", func() error { return server.agreedOn(aggregatedName, "stowage-1", release.AggregatedGroup+"/v1") })
	manager, err := controllermanager.New(controllermanager.Options{Config: live.admin(at), Identity: "test_1", MigrationRate: 8})
	if err != nil {
		t.Fatal(err)
	}
	live.background("controller manager", manager.Run)
	server.create(migrationsPath, `{"apiVersion":"storagemigration.k8s.io/v1","kind":"StorageVersionMigration","metadata":{"name":"m"},
		"spec":{"resource":{"group":"`+release.AggregatedGroup+`","resource":"ballasts"}}}`)
	// Its APIServices are deleted half way: the server answers 404 for each object, and none
	// of them is taken for deleted. The migration goes on when they are back.
	live.until("some objects are migrated", func() error {
		if got := live.versions(); got[release.AggregatedGroup+"/v1"] < 5 {
			return fmt.Errorf("stored are %v", got)
		}
		return nil
	})
	server.leaves()
	live.until("the migration waits", func() error {
		var svm storagemigrationv1.StorageVersionMigration
		server.decode(server.get(migrationsPath+"/m", "application/json"), &svm)
		for _, c := range svm.Status.Conditions {
			if c.Type == string(storagemigrationv1.MigrationRunning) && c.Status == metav1.ConditionFalse && len(svm.Status.Conditions) == 1 {
				return nil
			}
		}
		return fmt.Errorf("%+v", svm.Status.Conditions)
	})
	if got := live.versions(); got[release.AggregatedGroup+"/v1beta1"] == 0 {
		t.Fatalf("all objects were migrated before the APIServices were deleted: %v", got)
	}
	server.joins(port)
	live.until("the migration has ended", func() error { return server.migrated(migrationsPath + "/m") })
	if got := live.versions(); len(got) != 1 || got[release.AggregatedGroup+"/v1"] != 20 {
		t.Errorf("after the migration are stored %v", got)
	}

	// When it has gone for good its entry goes too.
	sample.stop()
	server.remove("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/stowage-1")
	live.until("its storage version is removed", func() error {
		if response, body := server.ask("/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"+aggregatedName, "application/json"); response.StatusCode != http.StatusNotFound {
			return fmt.Errorf("%s", body)
		}
		return nil
	})
}

// migrated is nil once the migration has succeeded; a migration that failed ends the test.
func (s *liveServer) migrated(path string) error {
	var svm storagemigrationv1.StorageVersionMigration
	s.decode(s.get(path, "application/json"), &svm)
	for _, c := range svm.Status.Conditions {
		switch {
		case c.Type == string(storagemigrationv1.MigrationSucceeded) && c.Status == metav1.ConditionTrue:
			return nil
		case c.Type == string(storagemigrationv1.MigrationFailed) && c.Status == metav1.ConditionTrue:
			s.Fatalf("it failed: %s", c.Message)
		}
	}
	return fmt.Errorf("%+v", svm.Status.Conditions)
}

// at prepares an API server that is started later, and says where it will be.
func (l *liveTest) at(id, played string) (start func(), url string) {
	l.Helper()
	port := l.freePort()
	return func() { l.startAt(id, played, port) }, "https://127.0.0.1:" + port
}

// joined starts an aggregated server.
func (l *liveTest) joined(id, played string, port int, to string) *liveServer {
	l.Helper()
	r, err := release.Lookup(played)
	if err != nil {
		l.Fatal(err)
	}
	o := AggregatedOptions{Config: l.admin(to), Options: Options{
		Release: r, Hostname: id, ServerID: id, BindAddress: "127.0.0.1", SecurePort: port,
		TLSCertFile: l.file("server.crt"), TLSKeyFile: l.file("server.key"), ClientCAFile: l.file("ca.crt"),
		EtcdServers: []string{l.etcd}, EtcdCAFile: l.file("ca.crt"), EtcdCertFile: l.file("server.crt"), EtcdKeyFile: l.file("server.key"),
		RequestHeaderClientCAFile: l.file("ca.crt"), RequestHeaderAllowedNames: []string{"front-proxy"},
		IdentityLeaseDuration: liveLease, IdentityLeaseRenewInterval: liveLease / 3,
	}}
	return &liveServer{liveTest: l, url: fmt.Sprintf("https://127.0.0.1:%d", port),
		stop: l.background(id, func(ctx context.Context) error { return RunAggregated(ctx, o) })}
}

// admin reaches a server as an administrator.
func (l *liveTest) admin(url string) *rest.Config {
	return &rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{CAFile: l.file("ca.crt"), CertFile: l.file("admin.crt"), KeyFile: l.file("admin.key")}}
}

// joins hands the group of the aggregated server on to it.
func (s *liveServer) joins(port int) {
	s.Helper()
	s.create("/api/v1/namespaces/default/services", fmt.Sprintf(`{
		"apiVersion":"v1","kind":"Service","metadata":{"name":"stowage"},"spec":{"type":"ExternalName","externalName":"localhost","ports":[{"port":%d}]}}`, port))
	for i, version := range []string{"v1", "v1beta1"} {
		s.create("/apis/apiregistration.k8s.io/v1/apiservices", fmt.Sprintf(`{
			"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"%[1]s.%[2]s"},
			"spec":{"group":"%[2]s","version":"%[1]s","groupPriorityMinimum":2000,"versionPriority":%[3]d,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"stowage","port":%[4]d}}}`,
			version, release.AggregatedGroup, 20-i, port))
	}
}

// leaves takes the group of the aggregated server back.
func (s *liveServer) leaves() {
	s.Helper()
	for _, version := range []string{"v1", "v1beta1"} {
		s.remove("/apis/apiregistration.k8s.io/v1/apiservices/" + version + "." + release.AggregatedGroup)
	}
	s.remove("/api/v1/namespaces/default/services/stowage")
}

// answers wants a status from the server itself.
func (s *liveServer) answers(method, path, body string, code int) error {
	request, err := http.NewRequest(method, s.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != code {
		return fmt.Errorf("%s %s is answered %s, not %d", method, path, response.Status, code)
	}
	return nil
}

// agreedOn returns an error unless the aggregated server alone has published the
// resource, and a version is agreed.
func (s *liveServer) agreedOn(name, id, version string) error {
	response, body := s.ask("/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"+name, "application/json")
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	var object apiserverinternalv1alpha1.StorageVersion
	s.decode(body, &object)
	if entries := object.Status.StorageVersions; len(entries) != 1 || entries[0].APIServerID != id || ptr.Deref(object.Status.CommonEncodingVersion, "") != version {
		return fmt.Errorf("%+v", object.Status)
	}
	return nil
}

// versions counts what lies in etcd of the aggregated server by the version that
// the bytes name.
func (l *liveTest) versions() map[string]int {
	l.Helper()
	files, err := transport.TLSInfo{CertFile: l.file("server.crt"), KeyFile: l.file("server.key"), TrustedCAFile: l.file("ca.crt")}.ClientConfig()
	if err != nil {
		l.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{l.etcd}, TLS: files})
	if err != nil {
		l.Fatal(err)
	}
	defer client.Close()
	answer, err := client.Get(l.Context(), etcdPrefix+"/"+release.AggregatedGroup+"/", clientv3.WithPrefix())
	if err != nil {
		l.Fatal(err)
	}
	found := map[string]int{}
	for _, kv := range answer.Kvs {
		var object metav1.TypeMeta
		if err := json.Unmarshal(kv.Value, &object); err != nil || !strings.Contains(string(kv.Key), "/ballasts/") {
			l.Errorf("%s is stored as %s", kv.Key, kv.Value)
		}
		found[object.APIVersion]++
	}
	return found
}
