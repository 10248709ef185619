package oneline

import (
	"errors"
	"io"
	"io/fs"
	"testing"
)

func TestJoin(t *testing.T) {
	if err := Join(nil, nil); err != nil {
		t.Errorf("of nothing comes %v", err)
	}
	if err := Join(nil, io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("of one comes %v", err)
	}
	err := Join(io.EOF, nil, fs.ErrExist)
	if err.Error() != "EOF; file already exists" || !errors.Is(err, io.EOF) || !errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrClosed) {
		t.Errorf("of two comes %v", err)
	}
}
