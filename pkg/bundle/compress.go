package bundle

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CompressFrom is how large a history may be, in bytes, before it is compressed: one
// that people can open as it is stays as it is.
const CompressFrom = 32 << 20

// CompressHistory puts a large history of a bundle into its compressed form, which
// is judged all the same. It is done before the bundle is sealed.
func CompressHistory(dir string, from int64) error {
	name := filepath.Join(dir, HistoryFile)
	in, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open the history to compress it: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || info.Size() < from {
		return err
	}
	if err := compress(in, name+Compressed); err != nil {
		// The history is whole, and so is the bundle with it.
		return errors.Join(fmt.Errorf("compress the history: %w", err), os.Remove(name+Compressed))
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("remove the history that was compressed: %w", err)
	}
	return nil
}

func compress(in io.Reader, name string) error {
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err == nil {
		_, err = io.Copy(zipped, in)
		err = errors.Join(err, zipped.Close())
	}
	return errors.Join(err, out.Sync(), out.Close())
}
