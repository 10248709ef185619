package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// Source has bundles by the digest of their evidence.
type Source interface {
	// Fetch gives the folder of a bundle. Done is called when it is not needed any more.
	Fetch(ctx context.Context, digest string) (dir string, done func(), err error)
}

// fetchBound is how long the fetch of one file may take.
const fetchBound = 10 * time.Minute

// NewSource is a folder, or the URL of a server that has its files: below it a folder for
// each bundle, which has the digest of the evidence as its name.
func NewSource(where string) (Source, error) {
	if strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") {
		base, err := url.Parse(where)
		if err != nil {
			return nil, fmt.Errorf("--bundles %q is no URL: %w", where, err)
		}
		return &remote{base: base, client: &http.Client{Timeout: fetchBound}}, nil
	}
	info, err := os.Stat(where)
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--bundles %q is neither a folder nor an http URL", where)
	}
	return directory(where), nil
}

// directory is a folder of bundles.
type directory string

// Fetch implements Source.
func (d directory) Fetch(_ context.Context, digest string) (string, func(), error) {
	dir := filepath.Join(string(d), digest)
	if !sealed(dir) {
		return "", nil, fmt.Errorf("%s has no bundle of that digest", string(d))
	}
	return dir, func() {}, nil
}

// remote is a server.
type remote struct {
	base   *url.URL
	client *http.Client
}

// Fetch implements Source. It takes no more than a bundle may have: the digests first, and
// then the files that these list.
func (r *remote) Fetch(ctx context.Context, digest string) (dir string, done func(), err error) {
	if dir, err = os.MkdirTemp("", "evenkeel-bundle-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for a bundle: %w", err)
	}
	// What cannot be removed is a temporary folder, which the system removes.
	done = func() { _ = os.RemoveAll(dir) }
	if err := r.fetch(ctx, digest, dir); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

func (r *remote) fetch(ctx context.Context, digest, dir string) error {
	if _, err := r.file(ctx, digest, bundle.DigestFile, dir, bundle.MaxText); err != nil {
		return err
	}
	sealed, err := bundle.ReadFile(dir, bundle.DigestFile)
	if err != nil {
		return err
	}
	listed, err := bundle.ParseDigests(string(sealed))
	if err != nil {
		return err
	}
	if len(listed) > bundle.MaxFiles {
		return fmt.Errorf("it has more than %d files", bundle.MaxFiles)
	}
	left := int64(bundle.MaxTotal)
	for name := range listed {
		if !local(name) {
			return fmt.Errorf("it lists %q, which is not below it", name)
		}
		size, err := r.file(ctx, digest, name, dir, min(bundle.MaxFile, left))
		if err != nil {
			return err
		}
		left -= size
	}
	return nil
}

// file fetches a file of a bundle, and gives its size.
func (r *remote) file(ctx context.Context, digest, name, dir string, most int64) (size int64, err error) {
	from := r.base.JoinPath(digest, name).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return 0, fmt.Errorf("fetch %s: %w", from, err)
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("fetch a file of a bundle: %w", err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("fetch %s: the server answers %s", from, answer.Status)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, fmt.Errorf("write a file of a bundle: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, fmt.Errorf("write a file of a bundle: %w", err)
	}
	size, err = io.Copy(file, io.LimitReader(answer.Body, most+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return 0, fmt.Errorf("fetch %s: %w", from, err)
	}
	if size > most {
		return 0, fmt.Errorf("fetch %s: it has more than %d bytes", from, most)
	}
	return size, nil
}
