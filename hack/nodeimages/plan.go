package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

const etcdProgram, pauseProgram = "etcd", "pause"

// names are what the images of a release are called, by program.
type names map[string]string

// replaced are the images that take the place of others when a node is given the
// release, in the order of their names. etcd stays what it is, and so does what the
// container runtime itself needs: to import those too takes a sixth longer.
func (n names) replaced() []string {
	var images []string
	for _, program := range kubernetes.Binaries {
		images = append(images, n[program])
	}
	slices.Sort(images)
	return images
}

// plan reads what a release's kubeadm calls its images. Only etcd's tag is
// another: all releases run on the same one, and its name tells which it is.
// What a control plane can do without (DNS, kube-proxy) is left out.
func plan(listed string, etcdVersion string) (names, error) {
	wanted := append([]string{etcdProgram, pauseProgram}, kubernetes.Binaries...)
	all := names{}
	for _, image := range strings.Fields(listed) {
		repository, _, ok := cutTag(image)
		if !ok {
			return nil, fmt.Errorf("kubeadm names the image %q, which has no tag", image)
		}
		program := path.Base(repository)
		if program == etcdProgram {
			image = repository + ":" + etcdTag(etcdVersion)
		}
		all[program] = image
	}
	chosen := names{}
	for _, program := range wanted {
		if all[program] == "" {
			return nil, fmt.Errorf("kubeadm names no image for %s, only %q", program, listed)
		}
		chosen[program] = all[program]
	}
	return chosen, nil
}

// etcdTag is how images of etcd are tagged: with a revision of the image, which
// is the first of this version here.
func etcdTag(version string) string { return strings.TrimPrefix(version, "v") + "-0" }

// cutTag splits an image's name; a colon before a slash belongs to a port.
func cutTag(image string) (repository, tag string, ok bool) {
	i := strings.LastIndex(image, ":")
	if i < 0 || strings.Contains(image[i:], "/") {
		return image, "", false
	}
	return image[:i], image[i+1:], true
}
