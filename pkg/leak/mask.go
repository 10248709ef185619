package leak

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// reading opens a file; one that is compressed with gzip, which its content tells, is
// read as what was compressed.
func reading(path string) (from io.ReadCloser, compressed bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	buffered := bufio.NewReaderSize(file, 1<<20)
	if magic, err := buffered.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return opened{buffered, file}, false, nil
	}
	zipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return opened{zipped, file}, true, nil
}

type opened struct {
	io.Reader
	io.Closer
}

// search reads a file and gives what is in it.
func search(path string, p *pieces) ([]place, error) {
	from, _, err := reading(path)
	if err != nil {
		return nil, err
	}
	f := newFinder(p)
	_, err = io.Copy(f, from)
	if err := errors.Join(err, from.Close()); err != nil {
		return nil, err
	}
	return f.places(), nil
}

// mask writes a file anew with the places masked; where lines is set, with whole lines
// masked. It keeps its mode, and as many lines as it has. What was there before is only
// replaced by what is whole.
func mask(path string, places []place, lines bool) (err error) {
	from, compressed, err := reading(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	into, err := os.CreateTemp(filepath.Dir(path), ".masked-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(into.Name()))
		}
	}()
	err = write(into, from, compressed, places, lines)
	if err = errors.Join(err, into.Chmod(info.Mode().Perm()), into.Sync(), into.Close()); err != nil {
		return err
	}
	return os.Rename(into.Name(), path)
}

func write(into io.Writer, from io.Reader, compressed bool, places []place, lines bool) error {
	copying := maskBytes
	if lines {
		copying = maskLines
	}
	if !compressed {
		buffered := bufio.NewWriterSize(into, 1<<20)
		return errors.Join(copying(buffered, bufio.NewReader(from), places), buffered.Flush())
	}
	zipped, err := gzip.NewWriterLevel(into, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(copying(zipped, bufio.NewReader(from), places), zipped.Close())
}

// maskBytes copies what is not at one of the places.
func maskBytes(into io.Writer, from *bufio.Reader, places []place) error {
	var at int64
	for _, one := range places {
		if _, err := io.CopyN(into, from, one.begin-at); err != nil {
			return fmt.Errorf("the file has changed meanwhile: %w", err)
		}
		masked := io.LimitReader(from, one.end-one.begin)
		secret, err := io.ReadAll(masked)
		if err != nil {
			return err
		}
		// A line remains a line, so that others are still where they were.
		text := Mask
		for range bytes.Count(secret, []byte("\n")) {
			text += "\n" + Mask
		}
		if _, err := io.WriteString(into, text); err != nil {
			return err
		}
		at = one.end
	}
	_, err := io.Copy(into, from)
	return err
}

// maskLines copies the lines in which nothing was found.
func maskLines(into io.Writer, from *bufio.Reader, places []place) error {
	masked := map[int]bool{}
	for _, one := range places {
		for line := one.line; line <= one.lastLine; line++ {
			masked[line] = true
		}
	}
	for line := 1; ; line++ {
		if masked[line] {
			if _, err := io.WriteString(into, Mask); err != nil {
				return err
			}
		}
		for {
			part, err := from.ReadSlice('\n')
			if masked[line] && err == nil {
				part = part[len(part)-1:]
			} else if masked[line] {
				part = nil
			}
			if _, err := into.Write(part); err != nil {
				return err
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			break
		}
	}
}
