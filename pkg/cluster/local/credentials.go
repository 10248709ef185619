package local

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Credentials implements cluster.Cluster: all keys are of our two authorities' making.
func (c *local) Credentials(context.Context) ([]credential.Credential, error) {
	clients, err := c.ca.Credentials()
	proxies, errProxies := c.frontProxy.Credentials()
	return credential.Merge(clients, proxies...), errors.Join(err, errProxies)
}
