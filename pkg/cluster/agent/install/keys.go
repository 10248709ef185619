//go:build linux

package install

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Keys are those by which the harness and the agents of one installation know each other.
// The authority's own key is in no file, so that nothing else is ever signed by it.
type Keys struct {
	CA             []byte
	Server, Client pki.Pair
	// Salt keeps what agents hash from being compared with guesses; only nodes have it.
	Salt []byte
}

// saltLength is how many random bytes a salt has.
const saltLength = 32

// harness is the common name of the harness's certificate, and the name of its files.
const harness = agent.HarnessName

// MakeKeys makes keys whose files lie in a folder that only its owner reads.
func MakeKeys(dir string) (*Keys, error) {
	authority, err := pki.New(dir, Name)
	if err != nil {
		return nil, err
	}
	client, err := authority.Issue(harness, pki.Subject{Name: harness})
	if err != nil {
		return nil, fmt.Errorf("make the keys of the harness: %w", err)
	}
	server, err := authority.Issue("agent", pki.Subject{Name: agent.ServerName, Server: true, Hosts: []string{agent.ServerName}})
	if err != nil {
		return nil, fmt.Errorf("make the keys of the agents: %w", err)
	}
	// The agents' key is for the nodes alone.
	if err := errors.Join(os.Remove(server.KeyFile), os.Remove(server.CertFile)); err != nil {
		return nil, fmt.Errorf("remove the agents' key from this machine: %w", err)
	}
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // it never fails
	return &Keys{CA: authority.PEM(), Server: server, Client: client, Salt: salt}, nil
}

// KeysFolder is where a topology's keys lie: beside the topology.
func KeysFolder(topology *cluster.Topology) string {
	return topology.Path(topology.Metadata.Name + "-agent-keys")
}

// ClientTLS is for talking to the agents of the installation whose keys lie in a folder.
func ClientTLS(dir string) (*tls.Config, []credential.Credential, error) {
	ca, err := os.ReadFile(filepath.Join(dir, agent.AuthorityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there are no keys of an agent in %s: install it with `evenkeel agent install`", dir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the keys of the agent: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, nil, fmt.Errorf("%s holds no certificate: install the agent again with `evenkeel agent install`", filepath.Join(dir, agent.AuthorityFile))
	}
	keyFile := filepath.Join(dir, harness+".key")
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, harness+".crt"), keyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read the keys of the agent in %s: %w", dir, err)
	}
	raw, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read the keys of the agent: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, ServerName: agent.ServerName, Certificates: []tls.Certificate{pair}},
		credential.Keys("the private key by which the harness is known to agents", raw), nil
}
