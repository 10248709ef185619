package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// command runs a program and returns what it wrote; what it said on standard
// error becomes part of the error.
func command(ctx context.Context, stdin io.Reader, name string, args ...string) (string, error) {
	run := exec.CommandContext(ctx, name, args...)
	var out, said bytes.Buffer
	run.Stdin, run.Stdout, run.Stderr = stdin, &out, &said
	if err := run.Run(); err != nil {
		shown := args
		if len(shown) > 3 {
			shown = append(append([]string{}, args[:3]...), "…")
		}
		return "", fmt.Errorf("%s %s failed: %w: %s", name, strings.Join(shown, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func docker(ctx context.Context, args ...string) (string, error) {
	return command(ctx, nil, "docker", args...)
}

// hasImage is whether the Docker daemon has the image.
func hasImage(ctx context.Context, image string) bool {
	_, err := docker(ctx, "image", "inspect", "--format", "{{.Id}}", image)
	return err == nil
}

// container runs a container of the image that waits, hands over its ID, and
// removes it. What the flags say of it is kept by an image that is committed.
func container(ctx context.Context, image string, flags []string, use func(id string) error) error {
	args := append([]string{"run", "--detach", "--network", "none", "--security-opt", "seccomp=unconfined"}, flags...)
	id, err := docker(ctx, append(args, image, "sleep", "infinity")...)
	if err != nil {
		return err
	}
	used := use(id)
	// Also when the context is at its end: what was started is taken away.
	if _, err := docker(context.WithoutCancel(ctx), "rm", "--force", "--volumes", id); err != nil && used == nil {
		return err
	}
	return used
}
