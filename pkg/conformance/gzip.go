package conformance

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// gzipMagic is how a file begins that gzip wrote (RFC 1952, 2.3.1).
const gzipMagic = "\x1f\x8b"

// zipped compresses a plan: a ConfigMap has to hold it.
func zipped(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(raw)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress the plan: %w", err)
	}
	return out.Bytes(), nil
}

// plain is what was compressed, or the text itself if it was not.
func plain(raw []byte) ([]byte, error) {
	if !bytes.HasPrefix(raw, []byte(gzipMagic)) {
		return raw, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(out) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return out, err
}
