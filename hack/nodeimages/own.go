package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// buildOwn builds a program of this module, static as an image without a
// library wants it.
func buildOwn(ctx context.Context, program, into string) error {
	root, err := command(ctx, nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", into, "./hack/nodeimages/"+program)
	build.Dir = filepath.Clean(root)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return build.Run()
}
