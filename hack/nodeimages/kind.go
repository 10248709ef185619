package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

const kindModule = "sigs.k8s.io/kind"

// kindSource is kind's own source, in the version that this module requires.
// What is in it need not be said again here, and cannot disagree.
type kindSource struct{ Version, Dir string }

func findKind(ctx context.Context) (kindSource, error) {
	var found kindSource
	raw, err := command(ctx, nil, "go", "mod", "download", "-json", kindModule)
	if err == nil {
		err = json.Unmarshal([]byte(raw), &found)
	}
	if err != nil {
		return found, fmt.Errorf("kind's source cannot be had; run this in the module's own folder: %w", err)
	}
	return found, nil
}

// baseFiles is the folder with what kind's base image has beside packages.
func (k kindSource) baseFiles() string { return filepath.Join(k.Dir, "images", "base", "files") }

// argument is the default of a build argument of kind's base image.
func (k kindSource) argument(name string) (string, error) {
	return k.find(filepath.Join("images", "base", "Dockerfile"), `(?m)^ARG `+regexp.QuoteMeta(name)+`="([^"]+)"$`)
}

// balancerImage is the image that kind starts before several control planes.
func (k kindSource) balancerImage() (string, error) {
	return k.find(filepath.Join("pkg", "cluster", "internal", "loadbalancer", "const.go"), `(?m)^const Image = "([^"]+)"$`)
}

func (k kindSource) find(file, pattern string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(k.Dir, file))
	if err != nil {
		return "", err
	}
	match := regexp.MustCompile(pattern).FindSubmatch(raw)
	if match == nil {
		return "", fmt.Errorf("%s of kind %s has no line like %s", file, k.Version, pattern)
	}
	return string(match[1]), nil
}
