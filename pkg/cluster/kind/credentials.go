//go:build linux

package kind

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// kubeadmConfig is where kind leaves a node its configuration of kubeadm, which has the
// tokens by which nodes join.
const kubeadmConfig = "/kind/kubeadm.conf"

// largestSecret is how large a file can be that has credentials; what is larger is none
// of them.
const largestSecret = 1 << 20

// Credentials implements cluster.Cluster: what our authorities have made, and what kind,
// kubeadm and kubelets have made in the nodes.
func (c *kindCluster) Credentials(ctx context.Context) ([]credential.Credential, error) {
	var all []credential.Credential
	var problems []error
	for _, authority := range []interface {
		Credentials() ([]credential.Credential, error)
	}{c.authority, c.etcdAuthority, c.frontProxyAuthority} {
		own, err := authority.Credentials()
		all, problems = credential.Merge(all, own...), append(problems, err)
	}
	problems = append(problems, c.gather(ctx))
	c.mu.Lock()
	defer c.mu.Unlock()
	return credential.Merge(all, c.secrets...), oneline.Join(problems...)
}

// gather remembers the credentials that nodes have now, be they paused or without power:
// they are read through the container engine. Until all members are set up there may be
// fewer files, and fewer nodes, than there will be.
func (c *kindCluster) gather(ctx context.Context) error {
	c.mu.Lock()
	made, begun := c.made, c.begun
	c.mu.Unlock()
	if !made {
		return nil
	}
	if err := c.gatherOwn(); err != nil {
		return err
	}
	problems := make([]error, len(c.members))
	var group sync.WaitGroup
	for i, m := range c.members {
		group.Go(func() {
			if err := c.gatherFrom(ctx, m); begun {
				problems[i] = err
			}
		})
	}
	group.Wait()
	return oneline.Join(problems...)
}

// gatherFrom remembers what a member's node has, as far as it can be read.
func (c *kindCluster) gatherFrom(ctx context.Context, m *member) error {
	var problems []error
	for _, from := range c.distribution.secrets() {
		found, err := secretsOf(ctx, m, from)
		c.remember(found...)
		if err != nil {
			problems = append(problems, fmt.Errorf("the credentials in %s of %s's node could not be learned: %w", from, m.name, err))
		}
	}
	return oneline.Join(problems...)
}

// gatherOwn remembers what kind has written on this side of the nodes.
func (c *kindCluster) gatherOwn() error {
	const file = "kind.kubeconfig"
	raw, err := os.ReadFile(filepath.Join(c.entry.Dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // kind writes none for nodes that it does not set up
	}
	if err != nil {
		return fmt.Errorf("the credentials in kind's kubeconfig could not be learned: %w", err)
	}
	found, err := credential.File(file, raw)
	c.remember(found...)
	return err
}

func (c *kindCluster) remember(found ...credential.Credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.secrets = credential.Merge(c.secrets, found...)
}

// secretsOf reads the credentials below a path of a member's node.
func secretsOf(ctx context.Context, m *member, from string) ([]credential.Credential, error) {
	packed, err := docker(ctx, "cp", m.host+":"+from, "-")
	if err != nil {
		return nil, err
	}
	var all []credential.Credential
	for reader := tar.NewReader(strings.NewReader(packed)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("what the container engine gives cannot be read: %w", err)
		}
		if header.Typeflag != tar.TypeReg || header.Size > largestSecret {
			continue
		}
		raw, err := io.ReadAll(reader)
		if err != nil {
			return all, fmt.Errorf("what the container engine gives cannot be read: %w", err)
		}
		//nolint:gosec // G305: this names the origin of a credential, and nothing is written there.
		found, err := credential.File(fmt.Sprintf("%s of %s's node", path.Join(path.Dir(from), header.Name), m.name), raw)
		if err != nil {
			return all, err
		}
		all = slices.Concat(all, found)
	}
}
