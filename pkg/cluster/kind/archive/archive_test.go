package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func put(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWhatIsWrittenCanBeRead(t *testing.T) {
	files := map[string]string{
		"/usr/local/bin/plane": put(t, "program", 0o700),
		"/etc/plane.conf":      put(t, "settings", 0o600),
	}
	var archive bytes.Buffer
	if err := Write(&archive, "example.test/plane:v1", files, []string{"plane", "--serve"}); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("example.test/plane:v1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }, &tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil || !slices.Equal(config.Config.Entrypoint, []string{"plane", "--serve"}) || config.OS != "linux" {
		t.Errorf("config %+v, %v", config, err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	raw, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var found []string
	for reader := tar.NewReader(raw); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, header.Name+" "+header.FileInfo().Mode().Perm().String()+" "+string(content))
	}
	want := []string{"etc/ -rwxr-xr-x ", "usr/ -rwxr-xr-x ", "usr/local/ -rwxr-xr-x ", "usr/local/bin/ -rwxr-xr-x ",
		"etc/plane.conf -rw-r--r-- settings", "usr/local/bin/plane -rwxr-xr-x program"}
	if !slices.Equal(found, want) {
		t.Errorf("the layer has\n%q, want\n%q", found, want)
	}
}

func TestEqualFilesMakeEqualBytes(t *testing.T) {
	write := func() []byte {
		files := map[string]string{"/b": put(t, "b", 0o755), "/a/x": put(t, "x", 0o644), "/a/y": put(t, "y", 0o640)}
		for _, file := range files {
			when := time.Now().Add(-time.Hour)
			if err := os.Chtimes(file, when, when); err != nil {
				t.Fatal(err)
			}
		}
		var archive bytes.Buffer
		if err := Write(&archive, "plane:v1", files, nil); err != nil {
			t.Fatal(err)
		}
		return archive.Bytes()
	}
	if !bytes.Equal(write(), write()) {
		t.Error("two archives of the same files differ")
	}
}

func TestWhatCannotBeAnImage(t *testing.T) {
	file := put(t, "x", 0o600)
	for _, tc := range []struct {
		name, image string
		files       map[string]string
		want        string
	}{
		{"no tag", "plane", map[string]string{"/x": file}, "no name of an image"},
		{"relative", "example.test/plane:v1", map[string]string{"x": file}, "no clean absolute path"},
		{"not clean", "example.test/plane:v1", map[string]string{"/a/../x": file}, "no clean absolute path"},
		{"not there", "example.test/plane:v1", map[string]string{"/x": file + "-not"}, "no such file"},
		{"a folder", "example.test/plane:v1", map[string]string{"/x": filepath.Dir(file)}, "no regular file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Write(io.Discard, tc.image, tc.files, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestSeveralImages(t *testing.T) {
	file := put(t, "x", 0o700)
	var archive bytes.Buffer
	images := []Image{{Name: "example.test/a:v1", Files: map[string]string{"/a": file}}, {Name: "example.test/b:v1", Files: map[string]string{"/b": file}}}
	if err := WriteAll(&archive, images); err != nil {
		t.Fatal(err)
	}
	for _, image := range images {
		tag, err := name.NewTag(image.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }, &tag); err != nil {
			t.Errorf("%s: %v", image.Name, err)
		}
	}
}
