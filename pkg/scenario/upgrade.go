package scenario

import "github.com/evenkeel/evenkeel/pkg/cluster"

// Upgrade stops all components of a member and starts them at a newer release.
type Upgrade struct {
	Replace `yaml:",inline"`
}

var _ = register("upgrade", func() Action { return &Upgrade{} }, replaceFields, cluster.Upgrades)
