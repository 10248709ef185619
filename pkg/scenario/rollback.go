package scenario

import "github.com/evenkeel/evenkeel/pkg/cluster"

// Rollback stops all components of a member and starts them at an older release.
type Rollback struct {
	Replace `yaml:",inline"`
}

var _ = register("rollback", func() Action { return &Rollback{} }, replaceFields, cluster.RollsBack)
