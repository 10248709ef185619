// Package regular opens regular files and nothing else. A bundle comes from a stranger: a
// pipe in it has no end and blocks the process that opens it, a device may do anything, and a link
// leads out of the folder to a file that no digest of the bundle covers.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package regular

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ErrIrregular is in the chain of an error about what is no regular file.
var ErrIrregular = errors.New("a folder, link, pipe, socket or device is not read")

// ErrTooLarge is in the chain of an error about a file that is larger than its bound.
var ErrTooLarge = errors.New("the file is too large")

// Open opens a regular file for reading. It does not follow a link in the last part of the
// path; links in the folders before it are followed, because the user has named those.
func Open(path string) (*os.File, error) {
	// O_NONBLOCK: to open a pipe that has no writer would else block for ever.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return nil, irregular(path)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func irregular(path string) error {
	return fmt.Errorf("%s is no regular file (%w); put the file itself in its place", path, ErrIrregular)
}

// ReadFile reads a file that Open opens and that has at most that many bytes.
func ReadFile(path string, most int64) (content []byte, err error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// The file may grow while it is read, so the size alone does not bound it.
	if info.Size() <= most {
		content, err = io.ReadAll(io.LimitReader(file, most+1))
	}
	if err != nil {
		return nil, err
	}
	if size := max(info.Size(), int64(len(content))); size > most {
		return nil, fmt.Errorf("%s has %d bytes or more, and at most %d are read: %w", path, size, most, ErrTooLarge)
	}
	return content, nil
}

// ReadNamed is ReadFile for a file that the user names on the command line, which may be a
// link.
func ReadNamed(path string, most int64) ([]byte, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return ReadFile(resolved, most)
}

// Reader reads until the context ends; then each Read fails. A regular file answers at once,
// so that an interruption is noticed within one Read.
func Reader(ctx context.Context, in io.Reader) io.Reader { return reader{ctx, in} }

type reader struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (r reader) Read(into []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, errors.New("it was interrupted")
	}
	return r.in.Read(into)
}
