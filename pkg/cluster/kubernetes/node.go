package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// Node is what it takes to run a node of a release in a container, and to give
// the release to a node that runs another. The record of a release that is only to be
// given to nodes has no more than Images.
type Node struct {
	// Image is the node image, as Docker calls it.
	Image string `json:"image,omitempty"`
	// EtcdImageTag is for kubeadm's etcd.local.imageTag: releases name an etcd
	// each, and the image has one.
	EtcdImageTag string `json:"etcdImageTag,omitempty"`
	// Images are the names of the container images in Archive: those that take the place
	// of others when a node is given the release.
	Images []string `json:"controlPlaneImages"`
	// Recipe tells what Archive was made by, where there is no Image whose name does.
	Recipe string `json:"recipe,omitempty"`
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
	node, dir, err := readNode(release)
	if err != nil {
		return Node{}, err
	}
	if node.Image == "" {
		return Node{}, noNode(release)
	}
	if node.EtcdImageTag == "" {
		return Node{}, damaged(dir, release)
	}
	for name, path := range map[string]*string{"kubeadm": &node.Kubeadm, "kubelet": &node.Kubelet} {
		if *path, err = executable(filepath.Join(dir, name), remedy(release)); err != nil {
			return Node{}, err
		}
	}
	return node, nil
}

// LookUpImages finds what a node that runs another release is given of this one: Images
// and Archive, and what else the record has.
func LookUpImages(release string) (Node, error) {
	node, _, err := readNode(release)
	return node, err
}

func readNode(name string) (node Node, dir string, err error) {
	played := release.Binary(name)
	cache, err := CacheDir()
	if err != nil {
		return Node{}, "", err
	}
	dir = NodeDir(cache, played)
	raw, err := os.ReadFile(filepath.Join(dir, NodeRecord))
	if err != nil {
		return Node{}, "", noNode(played)
	}
	if err := json.Unmarshal(raw, &node); err != nil || len(node.Images) == 0 {
		return Node{}, "", damaged(dir, played)
	}
	node.Archive = filepath.Join(dir, NodeArchive)
	if _, err := os.Stat(node.Archive); err != nil {
		return Node{}, "", fmt.Errorf("%s is not there: %s", node.Archive, remedy(played))
	}
	return node, dir, nil
}

func remedy(release string) string { return fmt.Sprintf("run `make node-images RELEASES=%s`", release) }

func noNode(release string) error {
	return fmt.Errorf("there is no node image of %s: %s", release, remedy(release))
}

func damaged(dir, release string) error {
	return fmt.Errorf("the record %s of a node image is damaged: remove it and %s", filepath.Join(dir, NodeRecord), remedy(release))
}

// ImageOf finds the image of a program among those of a release.
func ImageOf(images []string, program string) (string, error) {
	for _, image := range images {
		repository, _, _ := strings.Cut(path.Base(image), ":")
		if repository == program || strings.HasPrefix(repository, program+"-") {
			return image, nil
		}
	}
	return "", fmt.Errorf("there is no image of %s among %s", program, strings.Join(images, ", "))
}
