package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that names the binary of the
// reference control plane.
const Variable = "EVENKEEL_REFPLANE"

const (
	cacheMode = 0o700

	refplane       = "refplane"
	module         = "github.com/evenkeel/evenkeel"
	refplaneSource = "impl/cmd/refplane"
)

// Find finds the binary: where the variable says, beside this
// program, on the PATH, or built from the source if that is at hand.
func Find(ctx context.Context) (string, error) {
	if named := os.Getenv(Variable); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s names no program that can be run: %w", Variable, err)
		}
		return filepath.Abs(path)
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), refplane)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(refplane); err == nil {
		return filepath.Abs(path)
	}
	if source := sourceAtHand(ctx); source != "" {
		return buildRefplane(ctx, source)
	}
	return "", fmt.Errorf("the reference control plane (%s) was not found beside this program nor on the PATH: run `go install %s/%s@latest`, or set %s to the binary",
		refplane, module, refplaneSource, Variable)
}

// sourceAtHand is the folder of this module's source if the working folder is
// in a module that knows it and the source of refplane is there.
func sourceAtHand(ctx context.Context) string {
	raw, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return ""
	}
	source := strings.TrimSpace(string(raw))
	if info, err := os.Stat(filepath.Join(source, refplaneSource)); source == "" || err != nil || !info.IsDir() {
		return ""
	}
	return source
}

// buildRefplane builds the binary into the user's cache, one for each place
// that source is at; go itself knows whether there is anything to do.
func buildRefplane(ctx context.Context, source string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to build %s into: %w; set %s to a binary", refplane, err, Variable)
	}
	key := sha256.Sum256([]byte(source))
	path := filepath.Join(cache, "evenkeel", hex.EncodeToString(key[:6]), refplane)
	if err := os.MkdirAll(filepath.Dir(path), cacheMode); err != nil {
		return "", fmt.Errorf("no folder to build %s into: %w; set %s to a binary", refplane, err, Variable)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, buildBound, fmt.Errorf("it took longer than %s", buildBound))
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./"+refplaneSource)
	build.Dir = source
	if output, err := build.CombinedOutput(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = errors.Join(cause)
		}
		return "", fmt.Errorf("building %s in %s failed: %w: %s", refplane, source, err, lastLine(string(output)))
	}
	return path, nil
}
