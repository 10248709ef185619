//go:build linux

package kind

import (
	"archive/tar"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
)

// secretive has credentials in two places of its nodes.
type secretive struct{ fakeDistribution }

func (secretive) secrets() []string { return []string{kubeadmConfig, "/etc/kubernetes"} }

func TestCredentials(t *testing.T) {
	engine := useFakeDocker(t)
	c := newFakeCluster(t, secretive{}, 2, nil)
	var err error
	if c.authority, err = pki.New(t.TempDir(), "c-1"); err != nil {
		t.Fatal(err)
	}
	if c.etcdAuthority, err = pki.New(t.TempDir(), "c-1-etcd"); err != nil {
		t.Fatal(err)
	}
	if c.frontProxyAuthority, err = pki.New(t.TempDir(), "c-1-front-proxy"); err != nil {
		t.Fatal(err)
	}
	pair, err := c.authority.Issue("admin", pki.Subject{Name: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	names := func() []string {
		t.Helper()
		all, err := c.Credentials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range all {
			names = append(names, one.What())
		}
		return names
	}
	own := []string{"the private key of the authority evenkeel-ca-c-1", "the private key admin.key", "the private key of the authority evenkeel-ca-c-1-etcd",
		"the private key of the authority evenkeel-ca-c-1-front-proxy"}
	if got := names(); !slices.Equal(got, own) || len(engine.asked()) > 0 {
		t.Errorf("before anything was made: %q, and the engine was asked %q", got, engine.asked())
	}

	// While nodes are being made it is no error that there is nothing yet.
	c.made = true
	engine.fails("cp", "Could not find the file /etc/kubernetes")
	if got := names(); !slices.Equal(got, own) {
		t.Errorf("while nodes are made: %q", got)
	}
	c.begun = true
	all, err := c.Credentials(t.Context())
	expectError(t, err, "the credentials in /kind/kubeadm.conf of cp1's node could not be learned: docker cp")
	if len(all) != len(own) {
		t.Errorf("with an error: %v", all)
	}

	other, err := pki.New(t.TempDir(), "other")
	if err != nil {
		t.Fatal(err)
	}
	made, err := other.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	engine.fails("cp", "")
	engine.says("cp", packed(t, map[string]string{
		"kubernetes/admin.conf":      "apiVersion: v1\nkind: Config\nusers:\n- name: kubernetes-admin\n  user: {token: the-token-of-an-admin}\n",
		"kubernetes/pki/sa.key":      string(made),
		"kubernetes/pki/apiserver.k": string(pair.KeyPEM), // known already
		"kubernetes/kubeadm.conf":    "apiVersion: kubeadm.k8s.io/v1beta4\nbootstrapTokens:\n- token: abcdef.0123456789abcdef\n",
		"kubernetes/pki/ca.crt":      string(other.PEM()),
	}))
	got := names()
	for _, want := range []string{"the token of kubernetes-admin in ", "the private key ", "the bootstrap token in "} {
		// The same is given for both places of both nodes, and named after the first.
		if !slices.ContainsFunc(got[len(own):], func(name string) bool {
			return strings.HasPrefix(name, want) && strings.Contains(name, "/kubernetes/") && strings.Contains(name, " of cp") && strings.HasSuffix(name, "'s node")
		}) {
			t.Errorf("nothing is called %q in %q", want, got)
		}
	}
	if len(got) != len(own)+3 {
		t.Errorf("%d are told: %q", len(got), got)
	}

	// What an upgrade has overwritten is not forgotten.
	engine.says("cp", packed(t, nil))
	if again := names(); len(again) != len(got) {
		t.Errorf("afterwards: %q", again)
	}
	engine.says("cp", "no archive")
	_, err = c.Credentials(t.Context())
	expectError(t, err, "what the container engine gives cannot be read")
}

// Every distribution says where its nodes have credentials.
func TestSecretsOfDistributions(t *testing.T) {
	for _, one := range []distribution{&reference{}, &published{}} {
		if places := one.secrets(); !slices.Contains(places, kubeadmConfig) {
			t.Errorf("%T: %q", one, places)
		}
	}
	// Wherever links learn keys, credentials are learned too.
	keys := (&published{}).keys()
	for _, file := range []string{keys.Etcd.Key, keys.EtcdClient.Key, keys.APIServer.Key, keys.Callers[0].Kubeconfig, keys.Callers[2].Files.Key} {
		if !slices.ContainsFunc((&published{}).secrets(), func(place string) bool { return strings.HasPrefix(file, place+"/") }) {
			t.Errorf("%s is not learned", file)
		}
	}
}

func packed(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&tar.Header{Name: "kubernetes/", Typeflag: tar.TypeDir, Mode: 0o755})
	for name, content := range files {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content))})
		}
		if err == nil {
			_, err = fmt.Fprint(w, content)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
