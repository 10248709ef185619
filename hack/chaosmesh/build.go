package main

import (
	"context"
	"path/filepath"

	"github.com/evenkeel/evenkeel/hack/internal/gobuild"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

// The newest version of Chaos Mesh that the Go module proxy has, which is younger than release
// 2.8.4, and the one of its API beside it. Its releases are no versions of the module.
const (
	chaosMesh  = "github.com/chaos-mesh/chaos-mesh"
	version    = "v0.9.1-0.20260902003049-47411975a8cb"
	apiVersion = "v0.0.0-20260906172039-d70b66ad97ac"
)

// built is Chaos Mesh, built.
type built struct {
	// programs is the folder of its programs, and source that of its source.
	programs, source string
}

func build(ctx context.Context) (built, error) {
	cache, err := kubernetes.CacheDir()
	if err != nil {
		return built{}, err
	}
	t := gobuild.Target{
		What: "chaos-mesh", Version: version, Dir: filepath.Join(cache, "chaos-mesh", version),
		Module: chaosMesh, Require: []string{chaosMesh}, Apart: map[string]string{chaosMesh + "/api": apiVersion},
		Programs: map[string]string{}, C: true,
	}
	for _, name := range programs {
		t.Programs[chaosMesh+"/cmd/"+name] = name
	}
	if err := t.Make(ctx); err != nil {
		return built{}, err
	}
	from, err := gobuild.Download(ctx, chaosMesh, version)
	return built{programs: t.Dir, source: from.Dir}, err
}

// programs are those of the image.
var programs = []string{"chaos-controller-manager", "chaos-daemon"}
