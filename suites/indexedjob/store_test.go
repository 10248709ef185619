package indexedjob

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// store is a server that takes what Pods put, as a web server in front of a folder does.
type store struct {
	root string
	// read are called before a file is read, with how often it was asked for.
	read map[string]func(nth int)

	mu    sync.Mutex
	asked map[string]int
}

// asks counts how often a file was asked for.
func (s *store) asks(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[name]++
	return s.asked[name]
}

// serveStore serves a folder until the test ends.
func serveStore(t *testing.T, s *store) (url string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch r.Method {
	case http.MethodGet:
		if before := s.read[name]; before != nil {
			before(s.asks(name))
		}
		http.ServeFile(w, r, filepath.Join(s.root, name))
	case http.MethodPut:
		err := s.write(name, r.Body, r.Header.Get("If-None-Match") == "*")
		switch {
		case errors.Is(err, fs.ErrExist):
			w.WriteHeader(http.StatusPreconditionFailed)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusCreated)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// write writes a file as a whole. What a Pod that was killed has sent of it is left out.
func (s *store) write(name string, content io.Reader, exclusive bool) (err error) {
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	file, err := os.CreateTemp(s.root, ".put-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err == nil {
		if exclusive {
			err = os.Link(file.Name(), path)
		} else {
			err = os.Rename(file.Name(), path)
		}
	}
	if gone := os.Remove(file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
