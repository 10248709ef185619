// Package clusters holds the topologies that ship with Evenkeel, so that an
// installed command has them without a checkout.
package clusters

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Default is the topology that is taken where none is named.
const Default = "clusters/local-3.yaml"

// Files are the topologies, by their names in this folder.
//
//go:embed *.yaml
var Files embed.FS

// Read gives a file, or where there is none the one that ships with Evenkeel
// under the same path, such as Default, or by its name alone, such as local-3.
func Read(name string) ([]byte, error) {
	raw, err := os.ReadFile(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return raw, err
	}
	shipped := strings.TrimPrefix(path.Clean(filepath.ToSlash(name)), "clusters/")
	if path.Ext(shipped) == "" {
		shipped += ".yaml"
	}
	if raw, shippedErr := fs.ReadFile(Files, shipped); shippedErr == nil {
		return raw, nil
	}
	return nil, err
}
