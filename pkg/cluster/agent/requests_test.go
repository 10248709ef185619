//go:build linux

package agent

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
)

const manager = "system:kube-controller-manager"

// node is a folder of keys, as a node has one, and an API server that answers
// with the name of the client.
type node struct {
	t   *testing.T
	dir string
	ca  *pki.Authority
	api *http.Server
	at  string
}

func newNode(t *testing.T) *node {
	n := &node{t: t, dir: t.TempDir()}
	var err error
	if n.ca, err = pki.New(filepath.Join(t.TempDir(), "pki"), "c"); err != nil {
		t.Fatal(err)
	}
	n.write("ca.crt", n.ca.PEM())
	serving := n.issue("apiserver", pki.Subject{Name: "apiserver", Server: true})
	certificate, err := serving.TLS()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.at = listener.Addr().String()
	n.api = &http.Server{
		ReadHeaderTimeout: answerBound,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
		}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: n.ca.Pool()},
	}
	go func() { _ = n.api.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { n.api.Close() })
	return n
}

func (n *node) write(name string, content []byte) string {
	path := filepath.Join(n.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		n.t.Fatal(err)
	}
	return path
}

func (n *node) issue(name string, whom pki.Subject) pki.Pair {
	pair, err := n.ca.Issue(name, whom)
	if err != nil {
		n.t.Fatal(err)
	}
	n.write(name+".crt", pair.CertPEM)
	n.write(name+".key", pair.KeyPEM)
	return pair
}

func (n *node) file(name string) string { return filepath.Join(n.dir, name) }

// keys of the node: one caller has a kubeconfig, one a file for both, and one is
// not there yet.
func (n *node) keys() Keys {
	client := n.issue("manager", pki.Subject{Name: manager})
	kubeconfig := n.file("manager.conf")
	if err := pki.WriteKubeconfig(kubeconfig, n.ca, manager, client, pki.Endpoint{Name: "cp1", URL: "https://" + n.at}); err != nil {
		n.t.Fatal(err)
	}
	kubelet := n.issue("kubelet", pki.Subject{Name: "system:node:cp1"})
	both := n.write("kubelet.pem", append(append([]byte{}, kubelet.CertPEM...), kubelet.KeyPEM...))
	return Keys{
		APIServer: KeyFiles{n.file("apiserver.crt"), n.file("apiserver.key")}, Authority: n.file("ca.crt"),
		Callers: []Caller{
			{Component: cluster.ControllerManager, Kubeconfig: kubeconfig},
			{Component: cluster.Scheduler, Kubeconfig: n.file("scheduler.conf")},
			{Component: "kubelet", Files: KeyFiles{both, both}},
		},
	}
}

// through is a client of the link of components that shows a certificate.
func (n *node) through(proxy *link.Proxy, name string) func() (string, error) {
	certificate, err := tls.LoadX509KeyPair(n.file(name+".crt"), n.file(name+".key"))
	if err != nil {
		n.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: n.ca.Pool(), Certificates: []tls.Certificate{certificate}},
	}}
	return func() (string, error) {
		response, err := client.Get(proxy.URL() + "/api")
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
}

func TestSingleRequestsAreHitAndHealed(t *testing.T) {
	n := newNode(t)
	a, client := served(t, Component{Name: cluster.ControllerManager, Program: "none"})
	q := &requests{keys: n.keys(), apiserverAddress: n.at, dialer: &net.Dialer{}}
	t.Cleanup(q.close)
	a.links.requests = q
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q.toAPIServer = link.NewProxy(listener, q.apiserverDialer(link.To(n.at)), func(net.Addr) []*link.Link { return []*link.Link{link.New(1, "cp1/components")} })
	q.toAPIServer.Start()
	t.Cleanup(q.toAPIServer.Stop)
	ask, kubelet := n.through(q.toAPIServer, "manager"), n.through(q.toAPIServer, "kubelet")

	if said, err := ask(); err != nil || said != manager {
		t.Fatalf("without a fault: %q, %v", said, err)
	}
	told := make(chan cluster.HTTPExchange, 10)
	heal, err := client.FaultHTTP(t.Context(), cluster.ControllerManager, cluster.HTTPFault{Method: http.MethodGet, Abort: true},
		func(one cluster.HTTPExchange) { told <- one })
	if err != nil {
		t.Fatal(err)
	}
	if said, err := ask(); err == nil {
		t.Errorf("a request that is to be broken off was answered with %q", said)
	}
	for _, over := range []bool{false, true} {
		select {
		case one := <-told:
			if one.Over != over || one.Path != "/api" || one.Sent {
				t.Errorf("told of %+v, want one to /api with over=%v that was not sent", one, over)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the harness was not told of the hit")
		}
	}
	if said, err := kubelet(); err != nil || said != "system:node:cp1" {
		t.Errorf("another client was answered with %q, %v", said, err)
	}
	heal()
	heal()
	if said, err := ask(); err != nil || said != manager {
		t.Errorf("after healing: %q, %v", said, err)
	}
	if _, err := client.FaultHTTP(t.Context(), cluster.Scheduler, cluster.HTTPFault{Abort: true}, func(cluster.HTTPExchange) {}); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("a fault of a component that is not there: %v", err)
	}
}

func TestFaultsOfKeysNeedTheKeys(t *testing.T) {
	a, client := served(t, etcdOf("etcd"))
	a.links.requests = &requests{keys: Keys{EtcdAuthority: filepath.Join(t.TempDir(), "ca.crt")}}
	if err := client.SetKeyFault(t.Context(), cluster.KeyFault{}); err != nil {
		t.Errorf("taking away what is not there: %v", err)
	}
	err := client.SetKeyFault(t.Context(), cluster.KeyFault{Requests: []cluster.KeyRequest{cluster.RequestTxn}, Prefixes: []string{"/registry/"}})
	if err == nil || !strings.Contains(err.Error(), "cannot stand before etcd") {
		t.Errorf("without keys: %v", err)
	}
	if stats, err := client.KeyFaultStats(t.Context()); err != nil || stats != (cluster.KeyFaultStats{}) {
		t.Errorf("stats %+v, %v", stats, err)
	}
}
