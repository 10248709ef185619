//go:build linux

// Package agent is the harness's hand inside a kind node. It runs as a service
// of the node, from before the kubelet starts until the node loses its power,
// and does there what cannot be done from outside: it tells of every process of
// the member's components the moment it appears or is gone, signals them, takes
// their static Pods away and puts them back, keeps their logs, and carries the
// member's links, so that they can be cut and slowed down.
//
// The agent is this very executable, mounted into the node: a service file sets
// a variable that makes it become the agent while packages are initialized, as
// package ownhost does. It must therefore be linked statically. The harness
// talks to it in HTTP over a Unix socket in a folder that node and harness share.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package agent

import (
	"fmt"
	"os"
)

// Variable names the agent's configuration file and makes an executable that
// this package is linked into become the agent.
const Variable = "EVENKEEL_NODE_AGENT"

func init() {
	file, asked := os.LookupEnv(Variable)
	if !asked {
		return
	}
	if err := run(file); err != nil {
		fmt.Fprintln(os.Stderr, "evenkeel agent:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
