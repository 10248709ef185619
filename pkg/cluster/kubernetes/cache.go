package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// CacheVariable is the environment variable that names the folder where built
// binaries are kept.
const CacheVariable = "EVENKEEL_CACHE"

// CacheDir is where built binaries are kept: what CacheVariable says, or a
// folder of this project in the user's cache.
func CacheDir() (string, error) {
	if named := os.Getenv(CacheVariable); named != "" {
		return filepath.Abs(named)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder to keep binaries in: %w; set %s to one", err, CacheVariable)
	}
	return filepath.Join(cache, "evenkeel"), nil
}

// ReleaseDir is where the binaries of a release are in the cache.
func ReleaseDir(cache, release string) string { return filepath.Join(cache, "kubernetes", release) }

// EtcdDir is where the binaries of etcd are in the cache.
func EtcdDir(cache string) string { return filepath.Join(cache, "etcd", EtcdVersion()) }

// LookUp finds a binary of a release: in the folder that the user has named
// for the release, or if there is none in the cache.
func LookUp(binary, name string, named map[string]string) (string, error) {
	played := release.Binary(name)
	if folder, ok := named[played]; ok {
		return executable(filepath.Join(folder, binary), fmt.Sprintf("put it into the folder that spec.binaries names for %s", played))
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	return executable(filepath.Join(ReleaseDir(cache, played), binary),
		fmt.Sprintf("run `make binaries RELEASES=%s`, or name a folder that has it in the topology's spec.binaries", played))
}

// LookUpEtcd finds etcd: in the folder that the user has named for etcd, or if
// there is none in the cache.
func LookUpEtcd(named map[string]string) (string, error) {
	if folder, ok := named["etcd"]; ok {
		return executable(filepath.Join(folder, "etcd"), "put it into the folder that spec.binaries names for etcd")
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	return executable(filepath.Join(EtcdDir(cache), "etcd"),
		"run `make binaries`, or name a folder that has it under `etcd` in the topology's spec.binaries")
}

// executable is the absolute path of a program, or an error with the remedy.
func executable(path, remedy string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath(path); err != nil {
		why := "cannot be run"
		if errors.Is(err, os.ErrNotExist) {
			why = "is not there"
		}
		return "", fmt.Errorf("%s %s: %s", path, why, remedy)
	}
	return path, nil
}
