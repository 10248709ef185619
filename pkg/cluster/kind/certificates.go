//go:build linux

package kind

import (
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

const administrator = "evenkeel-admin"

// issueCertificates makes the authorities and our own certificates, before any
// node exists: so clients can be made that see a member from its first moment.
func (c *kindCluster) issueCertificates() error {
	dir := filepath.Join(c.entry.Dir, "pki")
	var err error
	if c.authority, err = pki.New(dir, c.id()); err != nil {
		return err
	}
	if c.etcdAuthority, err = pki.New(filepath.Join(dir, "etcd"), c.id()+"-etcd"); err != nil {
		return err
	}
	if c.frontProxyAuthority, err = pki.New(filepath.Join(dir, frontProxy), c.id()+"-front-proxy"); err != nil {
		return err
	}
	if c.admin, err = c.authority.Issue("admin", pki.Subject{Name: administrator, Organization: "system:masters"}); err != nil {
		return err
	}
	c.etcdClient, err = c.etcdAuthority.Issue("client", pki.Subject{Name: administrator})
	if err != nil {
		return err
	}
	return c.copyAgent()
}

// publish writes the kubeconfig of all members and the load balancer, and
// completes the record.
func (c *kindCluster) publish() error {
	var endpoints []pki.Endpoint
	var recorded []state.Member
	for _, m := range c.members {
		endpoints = append(endpoints, pki.Endpoint{Name: m.name, URL: local(m.apiserver)})
		recorded = append(recorded, state.Member{Name: m.name, ServerID: m.serverID, Release: m.release, URL: local(m.apiserver)})
	}
	if c.balancer != 0 {
		endpoints = append(endpoints, pki.Endpoint{Name: "balancer", URL: local(c.balancer)})
	}
	if err := pki.WriteKubeconfig(c.Kubeconfig(), c.authority, administrator, c.admin, endpoints...); err != nil {
		return err
	}
	return c.entry.Update(func(record *state.Record) {
		record.Kubeconfig, record.Members = c.Kubeconfig(), recorded
	})
}

// local is the URL of a port of this machine.
func local(number int) string { return "https://" + port.Address(number) }
