// Package archive writes container images that consist of a few files, without
// a container engine. The archives are what `docker load` and `ctr images
// import` read.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package archive

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// searchPath is where a program of an image is looked for when it is named
// without its folder, as the manifests of static pods do.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Image is one image of an archive.
type Image struct {
	// Name with its tag.
	Name string
	// Files on this machine's disk by their absolute path in the image.
	Files map[string]string
	// Entrypoint may be empty: then the user of the image says what.
	Entrypoint []string
}

// Write writes an archive of one image with one layer, for this machine's
// architecture. Equal files make equal bytes.
func Write(w io.Writer, image string, files map[string]string, entrypoint []string) error {
	return WriteAll(w, []Image{{Name: image, Files: files, Entrypoint: entrypoint}})
}

// WriteAll writes an archive of several images. In which order they stand in
// it is not defined.
func WriteAll(w io.Writer, images []Image) error {
	all := map[name.Reference]v1.Image{}
	for _, image := range images {
		tag, err := parse(image.Name)
		if err != nil {
			return err
		}
		built, err := build(image)
		if err != nil {
			return fmt.Errorf("the image %s cannot be put together: %w", image.Name, err)
		}
		all[tag] = built
	}
	if err := tarball.MultiRefWrite(all, w); err != nil {
		return fmt.Errorf("the image archive cannot be written: %w", err)
	}
	return nil
}

// parse takes no name without a tag: which one it would get is not the same
// everywhere.
func parse(image string) (name.Tag, error) {
	tag, err := name.NewTag(image)
	if err == nil && !strings.HasSuffix(image, ":"+tag.TagStr()) {
		err = errors.New("it has no tag")
	}
	if err != nil {
		return tag, fmt.Errorf("%q is no name of an image with a tag: %w", image, err)
	}
	return tag, nil
}

func build(image Image) (v1.Image, error) {
	config, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		Architecture: runtime.GOARCH,
		OS:           "linux",
		RootFS:       v1.RootFS{Type: "layers"},
		Config:       v1.Config{Entrypoint: image.Entrypoint, Env: []string{searchPath}},
	})
	if err != nil {
		return nil, err
	}
	layer, err := newLayer(image.Files)
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(config, layer)
}
