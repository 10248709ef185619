package gobuild

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const kubernetesModule = "k8s.io/kubernetes"

// Origin describes a downloaded module.
type Origin struct {
	version string
	// Dir holds its source.
	Dir   string
	goMod []byte
	// time is when the version was made; commit is empty if the proxy does not
	// report it.
	time   time.Time
	commit string
}

// Download downloads a module into Go's module cache.
func Download(ctx context.Context, name, version string) (Origin, error) {
	get := exec.CommandContext(ctx, "go", "mod", "download", "-json", name+"@"+version)
	// Outside of any module, so that no go.mod of the current folder takes part.
	get.Dir = os.TempDir()
	get.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var complaint bytes.Buffer
	get.Stderr = &complaint
	raw, err := get.Output()
	var told struct{ Dir, Info, GoMod, Error string }
	if err = cmp.Or(err, json.Unmarshal(raw, &told)); err != nil {
		return Origin{}, fmt.Errorf("downloading %s@%s failed: %w %s%s", name, version, err, told.Error, complaint.String())
	}
	if told.Error != "" {
		return Origin{}, fmt.Errorf("downloading %s@%s failed: %s", name, version, told.Error)
	}
	from := Origin{version: version, Dir: told.Dir}
	if from.goMod, err = os.ReadFile(told.GoMod); err != nil {
		return Origin{}, err
	}
	info, err := os.ReadFile(filepath.Clean(told.Info))
	if err != nil {
		return Origin{}, err
	}
	var about struct {
		Time   time.Time
		Origin struct{ Hash string }
	}
	if err := json.Unmarshal(info, &about); err != nil {
		return Origin{}, fmt.Errorf("%s cannot be read: %w", told.Info, err)
	}
	from.time, from.commit = about.Time, about.Origin.Hash
	return from, nil
}

// moduleFile returns a go.mod that requires the modules at the version. Replace directives
// are not inherited, so it repeats them. Where the main module takes modules from a folder of
// its own, it takes those that are published: staging modules of Kubernetes, v0.35.4 for
// v1.35.4, and those that are told apart.
func moduleFile(version string, require []string, apart map[string]string, goMod []byte) ([]byte, error) {
	theirs, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return nil, err
	}
	if theirs.Go == nil {
		return nil, fmt.Errorf("its go.mod names no Go version")
	}
	var ours modfile.File
	if err := ours.AddModuleStmt("evenkeel.dev/binaries"); err != nil {
		return nil, err
	}
	if err := ours.AddGoStmt(theirs.Go.Version); err != nil {
		return nil, err
	}
	for _, name := range require {
		if err := ours.AddRequire(name, version); err != nil {
			return nil, err
		}
	}
	for _, replace := range theirs.Replace {
		name, by := replace.Old.Path, replace.New
		switch {
		case by.Version != "":
		case apart[name] != "":
			by = module.Version{Path: name, Version: apart[name]}
		case strings.HasPrefix(name, "k8s.io/"):
			by = module.Version{Path: name, Version: staging(version)}
		default:
			continue
		}
		if err := ours.AddReplace(name, replace.Old.Version, by.Path, by.Version); err != nil {
			return nil, err
		}
	}
	return ours.Format()
}

// staging is the version of the staging modules of a release.
func staging(version string) string {
	return "v0." + strings.TrimPrefix(version, semver.Major(version)+".")
}

// versionFlags make /version report the release. Without them a component reports and
// emulates the version that is written in its source.
func versionFlags(from Origin) []string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(from.version), "v"), ".")
	values := []string{
		"gitVersion=" + from.version,
		"gitMajor=" + major,
		"gitMinor=" + minor,
		"gitTreeState=archive",
		"buildDate=" + from.time.UTC().Format(time.RFC3339),
	}
	if from.commit != "" {
		values = append(values, "gitCommit="+from.commit)
	}
	var flags []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, value := range values {
			flags = append(flags, pkg+"."+value)
		}
	}
	return flags
}
