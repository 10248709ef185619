package local

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Credentials implements cluster.Cluster: all keys are of one authority's making.
func (c *local) Credentials(context.Context) ([]credential.Credential, error) {
	return c.ca.Credentials()
}
