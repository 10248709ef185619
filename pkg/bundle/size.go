package bundle

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxCompressed is how many bytes the bundle of a full run takes at most when all of it
// is compressed, as it is when a user submits it: 20 MB.
const MaxCompressed = 20_000_000

// Size is what a bundle takes.
type Size struct {
	// Compressed is how many bytes all of its files take, each compressed.
	Compressed int64
	// Largest is the file that takes most of that.
	Largest string
}

// String says it in a sentence.
func (s Size) String() string {
	const mega = 1e6
	return fmt.Sprintf("The bundle takes %.1f MB compressed, and that of a full run is to take %.0f MB at most; most of it is %s.",
		float64(s.Compressed)/mega, MaxCompressed/mega, s.Largest)
}

// Oversize measures a bundle that takes more than bound bytes when it is compressed. It
// is the zero Size of any other one: what is small enough as it is need not be compressed
// to know that.
func Oversize(dir string, bound int64) (Size, error) {
	files, err := list(dir)
	if err != nil {
		return Size{}, fmt.Errorf("list the bundle: %w", err)
	}
	var plain int64
	for _, name := range files {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return Size{}, fmt.Errorf("measure %s: %w", name, err)
		}
		plain += info.Size()
	}
	if plain <= bound {
		return Size{}, nil
	}
	var size Size
	var most int64
	for _, name := range files {
		one, err := compressedSize(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return Size{}, fmt.Errorf("measure %s: %w", name, err)
		}
		size.Compressed += one
		if one > most {
			most, size.Largest = one, name
		}
	}
	if size.Compressed <= bound {
		return Size{}, nil
	}
	return size, nil
}

// compressedSize is what a file takes compressed.
func compressedSize(path string) (size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var count counter
	if strings.HasSuffix(path, Compressed) {
		_, err := io.Copy(&count, file)
		return int64(count), err
	}
	zipped := gzip.NewWriter(&count)
	_, err = io.Copy(zipped, file)
	err = errors.Join(err, zipped.Close()) // it counts up to here
	return int64(count), err
}

// counter counts what is written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(content []byte) (int, error) {
	*c += counter(len(content))
	return len(content), nil
}
