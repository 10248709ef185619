package regular

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOpen_RefusesWhatIsNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(path("file"), []byte("content"), 0o600),
		os.Symlink("file", path("link")),
		os.Symlink("/dev/zero", path("out")),
		os.Mkdir(path("folder"), 0o700),
		syscall.Mkfifo(path("pipe"), 0o600),
		syscall.Mknod(path("socket"), syscall.S_IFSOCK|0o600, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"link", "out", "folder", "pipe", "socket"} {
		if _, err := ReadFile(path(name), 10); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFile(path("nothing"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if got, err := ReadFile(path("file"), 7); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ReadFile(path("file"), 6); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that is too large: %v", err)
	}
	if got, err := ReadNamed(path("link"), 7); err != nil || string(got) != "content" {
		t.Errorf("a link that the user names: %q, %v", got, err)
	}
	if _, err := ReadNamed(path("pipe"), 7); !errors.Is(err, ErrIrregular) {
		t.Errorf("a pipe that the user names: %v", err)
	}
}

func TestReader_EndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := Reader(ctx, strings.NewReader("ab"))
	if _, err := io.ReadFull(in, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := in.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after the context has ended: %v", err)
	}
}
