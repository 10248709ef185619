package external

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// edit changes the kubeconfig of a member.
func (p *plane) edit(name string, change func(*clientcmdapi.Config)) {
	p.t.Helper()
	file := filepath.Join(p.dir, name+".kubeconfig")
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	change(config)
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		p.t.Fatal(err)
	}
}

// The working directory of kubectl does not matter for a kubeconfig either.
func TestNew_RelativePathsOfAKubeconfigBeginAtThatFile(t *testing.T) {
	p := newPlane(t, "cp1")
	p.edit("cp1", func(config *clientcmdapi.Config) {
		p.put("ca.pem", string(config.Clusters["c"].CertificateAuthorityData))
		p.put("token", secret)
		config.Clusters["c"].CertificateAuthorityData, config.Clusters["c"].CertificateAuthority = nil, "ca.pem"
		config.AuthInfos["u"] = &clientcmdapi.AuthInfo{TokenFile: "token"}
	})
	if _, err := p.made(true); err != nil {
		t.Errorf("a kubeconfig that names its CA and its token by relative paths: %v", err)
	}
	p.put("login", "#!/bin/sh\n"+`echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "`+secret+`"}}'`)
	if err := os.Chmod(filepath.Join(p.dir, "login"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.edit("cp1", func(config *clientcmdapi.Config) {
		config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode, Command: "./login",
		}}
	})
	if _, err := p.made(true); err != nil {
		t.Errorf("a kubeconfig that names its login plugin by a relative path: %v", err)
	}
}

// proxy is an HTTP proxy that leads example.com:6443, which nothing else reaches, to the
// server at the address.
func proxy(t *testing.T, to string, tunnels *atomic.Int64) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:6443" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		onward, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer onward.Close()
		tunnels.Add(1)
		w.WriteHeader(http.StatusOK)
		client, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		go func() {
			_, _ = io.Copy(onward, buffered) // either side may end the tunnel
			_ = onward.Close()
		}()
		_, _ = io.Copy(client, onward)
	}))
	t.Cleanup(server.Close)
	return server
}

// behindProxy has the member reached under a name that only a proxy knows.
func (p *plane) behindProxy(name string, tunnels *atomic.Int64) (proxyURL string) {
	p.t.Helper()
	p.edit(name, func(config *clientcmdapi.Config) {
		at, err := url.Parse(config.Clusters["c"].Server)
		if err != nil {
			p.t.Fatal(err)
		}
		proxyURL = proxy(p.t, at.Host, tunnels).URL
		config.Clusters["c"].Server = "https://example.com:6443"
	})
	return proxyURL
}

func TestNew_ReachesAClusterBehindAProxy(t *testing.T) {
	for _, tc := range []struct {
		name string
		by   func(t *testing.T, p *plane, proxyURL string)
	}{
		{"of the kubeconfig", func(_ *testing.T, p *plane, proxyURL string) {
			p.edit("cp1", func(config *clientcmdapi.Config) { config.Clusters["c"].ProxyURL = proxyURL })
		}},
		{"of the environment", func(t *testing.T, _ *plane, proxyURL string) { t.Setenv("HTTPS_PROXY", proxyURL) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlane(t, "cp1")
			var tunnels atomic.Int64
			tc.by(t, p, p.behindProxy("cp1", &tunnels))
			c, err := p.made(true)
			if err != nil {
				t.Fatal(err)
			}
			met := tunnels.Load()
			// What records a run goes the same way.
			config, err := c.ClientConfig("cp1", false)
			if err != nil {
				t.Fatal(err)
			}
			client, err := observe.Connect(config)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Get("https://example.com:6443/readyz")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if met == 0 || tunnels.Load() == met {
				t.Errorf("%d connections went through the proxy to meet the cluster, and %d to record it", met, tunnels.Load()-met)
			}
		})
	}
}

// A proxy that answers in place of the API server would be taken for it.
func TestNew_RefusesAProxyBeforePlainHTTP(t *testing.T) {
	p := newPlane(t, "cp1")
	p.edit("cp1", func(config *clientcmdapi.Config) {
		config.Clusters["c"] = &clientcmdapi.Cluster{Server: "http://example.com:8080", ProxyURL: "http://127.0.0.1:1"}
	})
	_, err := p.made(true)
	if err == nil || !strings.Contains(err.Error(), "use an https:// address") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

func TestCredentials_HoldThePasswordOfAProxy(t *testing.T) {
	p := newPlane(t, "cp1")
	var tunnels atomic.Int64
	at, err := url.Parse(p.behindProxy("cp1", &tunnels))
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("me", "the-password-of-the-proxy")
	p.edit("cp1", func(config *clientcmdapi.Config) { config.Clusters["c"].ProxyURL = at.String() })
	c, err := p.made(true)
	if err != nil {
		t.Fatal(err)
	}
	told, err := c.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range told {
		if one.Same(credential.Token("", "the-password-of-the-proxy")) {
			return
		}
	}
	t.Errorf("told of %v", told)
}

// An aggregated server is announced as a Service of type ExternalName, whose externalName
// is a DNS subdomain, which an IPv4 address happens to be.
func TestNew_RefusesAnAddressThatIsNotOfThisMachine(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": "", "localhost": "",
		// Of the range for documentation, which no machine has.
		"192.0.2.7": "spec.external.address 192.0.2.7 is not an address of this machine",
	} {
		p := newPlane(t, "cp1")
		p.address = address
		_, err := p.made(true)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("spec.external.address %q: %v, want %q", address, err, want)
		}
	}
}
