package external

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

func TestCredentialsOfKubeconfigs(t *testing.T) {
	p := newPlane(t, "cp1", "cp2")
	c, err := p.made(true)
	if err != nil {
		t.Fatal(err)
	}
	told, err := c.Credentials(t.Context())
	if err != nil || len(told) != 1 || !told[0].Same(credential.Token("", secret)) || told[0].What() != "the token for cp1" {
		t.Errorf("told of %v, %v", told, err)
	}
}

// A plugin, and who writes the file of a token anew, have others used than were there at
// first.
func TestCredentialsThatWereSent(t *testing.T) {
	p := newPlane(t, "cp1")
	file := filepath.Join(p.dir, "cp1.kubeconfig")
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		Command: "/bin/sh", Args: []string{"-c", `echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "` + secret + `"}}'`},
	}}
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	c, err := p.made(true)
	if err != nil {
		t.Fatal(err)
	}
	told, err := c.Credentials(t.Context())
	if err != nil || len(told) != 1 || !told[0].Same(credential.Token("", secret)) || told[0].What() != "the login to cp1" {
		t.Errorf("told of %v, %v", told, err)
	}
}

func TestCredentialsInFiles(t *testing.T) {
	p := newPlane(t, "cp1")
	ca, err := pki.New(filepath.Join(p.dir, "pki"), "theirs")
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Issue("client", pki.Subject{Name: "client"})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := ca.Issue("reader", pki.Subject{Name: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	p.put("token", secret+"\n")
	file := filepath.Join(p.dir, "cp1.kubeconfig")
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(p.dir, "token"), ClientCertificate: client.CertFile, ClientKey: client.KeyFile}
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	topology := p.topology()
	topology.Spec.Members[0].External.Etcd = &cluster.EtcdAccess{Endpoint: "https://127.0.0.1:1", CA: ca.File(), Cert: reader.CertFile, Key: reader.KeyFile}
	c, err := Provider{}.New(t.Context(), topology, cluster.Options{LogDir: filepath.Join(p.dir, "logs")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(t.Context())
	told, err := c.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wanted := append(credential.Keys("client", client.KeyPEM), append(credential.Keys("reader", reader.KeyPEM), credential.Token("token", secret))...)
	for _, one := range wanted {
		if !slices.ContainsFunc(told, one.Same) {
			t.Errorf("the credentials lack the %s: %v", one, told)
		}
	}
	if len(told) != len(wanted) {
		t.Errorf("told of %v", told)
	}
	for _, gone := range []string{reader.KeyFile, filepath.Join(p.dir, "token")} {
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
	}
	told, err = c.Credentials(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the token for cp1 cannot be read") || !strings.Contains(err.Error(), "the client key for the etcd of cp1 cannot be read") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	// What was used before is still known.
	if !slices.ContainsFunc(told, credential.Token("", secret).Same) {
		t.Errorf("told of %v", told)
	}
}
