//go:build linux

package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// engine is Docker, by its command line, which is also what kind's library
// uses.
const engine = "docker"

// docker runs one command of the container engine and gives what it prints.
func docker(ctx context.Context, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, engineBound)
	defer cancel()
	command := exec.CommandContext(ctx, engine, arguments...)
	var said, complaint bytes.Buffer
	command.Stdout, command.Stderr = &said, &complaint
	err := command.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("the kind provider needs Docker, and there is no docker on the PATH: install it, or see `make docker`")
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("%s %s was given up: %w", engine, arguments[0], context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("%s %s failed: %w: %s", engine, strings.Join(arguments, " "), err, oneLine(complaint.String()))
	}
	return strings.TrimSpace(said.String()), nil
}

// checkEngine says in a sentence that there is no Docker to talk to.
func checkEngine(ctx context.Context) error {
	_, err := docker(ctx, "version", "--format", "{{.Server.Version}}")
	if err != nil && !errors.Is(err, exec.ErrNotFound) && strings.Contains(err.Error(), "daemon") {
		return fmt.Errorf("the kind provider needs a Docker daemon that answers: %w; start it, or see `make docker`", err)
	}
	return err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
