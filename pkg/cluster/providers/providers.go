// Package providers is the one list of the providers that evenkeel has.
//
// Others may build on it.
package providers

import (
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/external"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
)

// All gives every provider.
func All() cluster.Registry {
	return cluster.Registry{local.Provider{}, kind.Provider{}, external.Provider{}}
}
