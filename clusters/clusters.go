// Package clusters holds the topologies that ship with Evenkeel, so that an
// installed command has them without a checkout.
package clusters

import "embed"

// Files are the topologies, by their names in this folder.
//
//go:embed *.yaml
var Files embed.FS
