package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Node is what it takes to run a node of a release in a container, and to give
// the release to a node that runs another.
type Node struct {
	// Image is the node image, as Docker calls it.
	Image string `json:"image"`
	// EtcdImageTag is for kubeadm's etcd.local.imageTag: releases name an etcd
	// each, and the image has one.
	EtcdImageTag string `json:"etcdImageTag"`
	// Images are the names of the container images in Archive: those that take the place
	// of others when a node is given the release.
	Images []string `json:"controlPlaneImages"`
	// Archive is a file for `ctr images import`.
	Archive string `json:"-"`
	// Kubeadm and Kubelet are the release's programs, as files on this machine.
	Kubeadm string `json:"-"`
	Kubelet string `json:"-"`
}

// The files of a release's record.
const (
	NodeRecord  = "node.json"
	NodeArchive = "images.tar"
)

// NodeDir is where the record of a release's node image is in the cache.
func NodeDir(cache, release string) string { return filepath.Join(ReleaseDir(cache, release), "node") }

// LookUpNode finds the record of a release's node image. Whether Docker still
// has the image is not looked at.
func LookUpNode(release string) (Node, error) {
	cache, err := CacheDir()
	if err != nil {
		return Node{}, err
	}
	dir := NodeDir(cache, release)
	remedy := fmt.Sprintf("run `make node-images RELEASES=%s`", release)
	raw, err := os.ReadFile(filepath.Join(dir, NodeRecord))
	if err != nil {
		return Node{}, fmt.Errorf("there is no node image of %s: %s", release, remedy)
	}
	var node Node
	if err := json.Unmarshal(raw, &node); err != nil || node.Image == "" || node.EtcdImageTag == "" || len(node.Images) == 0 {
		return Node{}, fmt.Errorf("the record %s of a node image is damaged: remove it and %s", filepath.Join(dir, NodeRecord), remedy)
	}
	node.Archive = filepath.Join(dir, NodeArchive)
	if _, err := os.Stat(node.Archive); err != nil {
		return Node{}, fmt.Errorf("%s is not there: %s", node.Archive, remedy)
	}
	for name, path := range map[string]*string{"kubeadm": &node.Kubeadm, "kubelet": &node.Kubelet} {
		if *path, err = executable(filepath.Join(dir, name), remedy); err != nil {
			return Node{}, err
		}
	}
	return node, nil
}
