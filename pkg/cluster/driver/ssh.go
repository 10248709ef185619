package driver

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// connectSeconds is how long ssh may take to connect to a node. After aliveMissed times
// aliveSeconds without an answer it gives up a connection, such as that to a node which has lost
// its power.
const connectSeconds, aliveSeconds, aliveMissed = 10, 5, 3

// overSSH runs a script as root on the node.
func overSSH(script func(Task) string) func(Task) [][]string {
	return func(task Task) [][]string {
		access := task.Topology.Spec.External.SSH
		if access == nil {
			access = &cluster.SSH{}
		}
		return [][]string{sshCommand(*access, task.Topology, task.Node, strings.TrimSpace(script(task)))}
	}
}

// sshCommand is the command line of this machine's ssh for a script. ssh asks for nothing
// (BatchMode), and shares no connection: a shared one may lead through what a fault has cut.
// https://man.openbsd.org/ssh_config
func sshCommand(access cluster.SSH, topology *cluster.Topology, node, script string) []string {
	line := []string{
		"ssh", "-o", "BatchMode=yes", "-o", fmt.Sprintf("ConnectTimeout=%d", connectSeconds),
		"-o", "ControlMaster=no", "-o", "ControlPath=none",
		"-o", fmt.Sprintf("ServerAliveInterval=%d", aliveSeconds), "-o", fmt.Sprintf("ServerAliveCountMax=%d", aliveMissed),
	}
	if access.IdentityFile != "" {
		line = append(line, "-o", "IdentitiesOnly=yes", "-i", topology.Path(access.IdentityFile))
	}
	if access.JumpHost != "" {
		line = append(line, "-J", access.JumpHost)
	}
	if access.Port != 0 {
		line = append(line, "-p", fmt.Sprint(access.Port))
	}
	if access.User != "" {
		line = append(line, "-l", access.User)
	}
	shell := "sudo -n /bin/sh -ec "
	if access.User == "root" {
		shell = "/bin/sh -ec "
	}
	return append(line, "--", node, shell+quoted(script))
}

// quoted is a word of a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
