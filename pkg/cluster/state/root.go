// Package state knows which clusters run on this machine and whose they are.
//
// A harness can be killed at any moment, and then no process is left that remembers
// what it had started. So every cluster is written down here before its first
// process exists, with the process that answers for it; a user who finds that
// process dead may remove everything that the cluster left. The folder of a
// cluster holds all its files, and every process of it carries its ID in the
// environment, so that "everything" can be found without any other memory.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package state

import (
	"fmt"
	"os"
	"path/filepath"
)

// RootVariable is the environment variable that moves the root folder.
const RootVariable = "EVENKEEL_STATE"

// Marker is the environment variable that every process of a cluster is
// started with; its value is the cluster's ID.
const Marker = "EVENKEEL_CLUSTER"

// Root is the folder that holds one folder for each cluster.
func Root() (string, error) {
	if root := os.Getenv(RootVariable); root != "" {
		return filepath.Abs(root)
	}
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no folder to keep clusters in: %w; set %s to one", err, RootVariable)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "evenkeel", "clusters"), nil
}
