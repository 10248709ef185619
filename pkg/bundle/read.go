package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/regular"
)

// Bounds of a bundle. A bundle may come from an unknown source, so what exceeds the bounds is
// not read.
const (
	// MaxFile is how many bytes a file may have. The largest are the history, which
	// history.MaxSize bounds, and logs of members.
	MaxFile = 4 << 30
	// MaxText is how many bytes a file may have that is read into memory as a whole: all
	// but history and logs. A page that shows a long run has some ten megabytes.
	MaxText = 64 << 20
	// MaxTotal is how many bytes all files may have together.
	MaxTotal = 16 << 30
	// MaxFiles is how many files a bundle may have. A run leaves one for each component of
	// a member, and a dozen more.
	MaxFiles = 10_000
)

// ReadFile reads a file of a bundle as a whole. It must be a regular file, and no link.
func ReadFile(dir, name string) ([]byte, error) {
	return regular.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), MaxText)
}

// Lacks is whether a bundle has nothing of that name, not even a link.
func Lacks(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	return errors.Is(err, os.ErrNotExist)
}

// DigestOf is the SHA-256 of a file of a bundle, in hexadecimal. It must be a regular file
// of at most MaxFile bytes, and no link. It fails when the context ends.
func DigestOf(ctx context.Context, dir, name string) (digest string, err error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	file, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	size := info.Size()
	if size <= MaxFile {
		size, err = io.Copy(sum, io.LimitReader(regular.Reader(ctx, file), MaxFile+1))
	}
	if err != nil {
		return "", err
	}
	if size > MaxFile {
		return "", fmt.Errorf("%s has more than %d bytes: %w", path, int64(MaxFile), regular.ErrTooLarge)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
