package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// inContainer runs scripts of this folder in a container, one after another in
// one shell, with a containerd to talk to.
func inContainer(ctx context.Context, id string, stdin io.Reader, variables map[string]string, script string) (string, error) {
	variables = maps.Clone(variables)
	if variables == nil {
		variables = map[string]string{}
	}
	variables["patience"] = strconv.Itoa(int(containerdStart.Seconds()))
	args := []string{"exec", "--interactive"}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		args = append(args, "--env", name+"="+variables[name])
	}
	whole := strings.Join([]string{"set -eu", string(ours("start-containerd.sh")), string(ours(script))}, "\n")
	return command(ctx, stdin, "docker", append(args, id, "sh", "-c", whole)...)
}
