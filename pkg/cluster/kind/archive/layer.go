package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const folderMode, programMode, fileMode = 0o755, 0o755, 0o644

// layer is not compressed: it is read on the machine that wrote it, where
// packing and unpacking costs more than the disk it would save.
type layer struct {
	files  map[string]string
	digest v1.Hash
	size   int64
}

func newLayer(files map[string]string) (v1.Layer, error) {
	for inside := range files {
		if !path.IsAbs(inside) || path.Clean(inside) != inside || inside == "/" {
			return nil, fmt.Errorf("%q is no clean absolute path of a file", inside)
		}
	}
	l := &layer{files: files}
	raw, err := l.Uncompressed()
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	l.digest, l.size, err = v1.SHA256(raw)
	return l, err
}

func (l *layer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)            { return l.digest, nil }
func (l *layer) Size() (int64, error)                { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error) { return types.DockerUncompressedLayer, nil }
func (l *layer) Compressed() (io.ReadCloser, error)  { return l.Uncompressed() }

// Uncompressed makes the layer anew at each call, so that it is never held in
// memory or on the disk.
func (l *layer) Uncompressed() (io.ReadCloser, error) {
	out, in := io.Pipe()
	go func() { in.CloseWithError(l.write(in)) }()
	return out, nil
}

// write leaves out whatever differs between two builds of the same files:
// times, owners, and all of the mode but whether a file can be run.
func (l *layer) write(w io.Writer) error {
	archive := tar.NewWriter(w)
	for _, folder := range folders(l.files) {
		if err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeDir, Name: entry(folder) + "/", Mode: folderMode, ModTime: time.Unix(0, 0),
		}); err != nil {
			return err
		}
	}
	for _, inside := range slices.Sorted(maps.Keys(l.files)) {
		if err := writeFile(archive, inside, l.files[inside]); err != nil {
			return err
		}
	}
	return archive.Close()
}

func writeFile(archive *tar.Writer, inside, outside string) error {
	file, err := os.Open(outside)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", outside)
	}
	mode := int64(fileMode)
	if info.Mode()&0o111 != 0 {
		mode = programMode
	}
	if err := archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: entry(inside), Mode: mode, Size: info.Size(), ModTime: time.Unix(0, 0),
	}); err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}

// entry is the name that a path has in a layer.
func entry(inside string) string { return strings.TrimPrefix(inside, "/") }

// folders are those above the files, parents before children.
func folders(files map[string]string) []string {
	all := map[string]bool{}
	for inside := range files {
		for dir := path.Dir(inside); dir != "/"; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
