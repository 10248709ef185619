//go:build linux

package agent

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
)

// Keys says where the node has what it takes to end the TLS of its member's
// links. None of it need be there when the agent starts: it is read when the
// first fault of single requests asks for it.
type Keys struct {
	// Etcd is what the member's etcd shows, EtcdClient what its API server shows
	// to it, and EtcdAuthority vouches for both.
	Etcd          KeyFiles `json:"etcd"`
	EtcdClient    KeyFiles `json:"etcdClient"`
	EtcdAuthority string   `json:"etcdAuthority"`
	// APIServer is what the API server shows, and Authority vouches for it and
	// for its clients.
	APIServer KeyFiles `json:"apiServer"`
	Authority string   `json:"authority"`
	// Callers are all that ask it over the link of components.
	Callers []Caller `json:"callers"`
}

// KeyFiles are a certificate and its key, which may be in one file.
type KeyFiles struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// Caller is the program that asks the member's API server from its node, known by what a
// kubeconfig file has or by files of its own. A caller of which nothing is there
// yet cannot ask.
type Caller struct {
	Component  cluster.Component `json:"component"`
	Kubeconfig string            `json:"kubeconfig,omitempty"`
	Files      KeyFiles          `json:"files,omitzero"`
}

func (f KeyFiles) load() (tls.Certificate, error) { return tls.LoadX509KeyPair(f.Cert, f.Key) }

func authority(file string) (*x509.CertPool, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}

// etcdTLS is how to stand between API server and etcd: as the one towards the
// other.
func (k Keys) etcdTLS() (server, client *tls.Config, err error) {
	pool, err := authority(k.EtcdAuthority)
	if err != nil {
		return nil, nil, err
	}
	serving, err := k.Etcd.load()
	if err != nil {
		return nil, nil, err
	}
	showing, err := k.EtcdClient.load()
	if err != nil {
		return nil, nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{serving}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool},
		&tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{showing}, RootCAs: pool}, nil
}

// identities of the callers that there are.
func (k Keys) identities() ([]link.Identity, error) {
	var all []link.Identity
	for _, one := range k.Callers {
		certificate, err := one.load()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the key of the %s: %w", one.Component, err)
		}
		all = append(all, link.Identity{Component: one.Component, Certificate: certificate})
	}
	return all, nil
}

func (c Caller) load() (tls.Certificate, error) {
	if c.Kubeconfig == "" {
		return c.Files.load()
	}
	// The library's error does not say when a file is missing.
	if _, err := os.Stat(c.Kubeconfig); err != nil {
		return tls.Certificate{}, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return tls.Certificate{}, err
	}
	if len(config.CertData) > 0 {
		return tls.X509KeyPair(config.CertData, config.KeyData)
	}
	return KeyFiles{config.CertFile, config.KeyFile}.load()
}
