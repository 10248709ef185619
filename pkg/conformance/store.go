package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// Store is where machines that share a plan put what they have played: a folder, or a server
// that takes PUT. Bundles are in folders by the digest of their evidence, as for Source, and
// the record of each line is in lines/PLAN, where PLAN is the digest of the plan.
type Store interface {
	Source
	// read gives a file of the store; fs.ErrNotExist if there is none.
	read(ctx context.Context, name string) ([]byte, error)
	// write writes a file. Where exclusive is set it is fs.ErrExist if there is one.
	write(ctx context.Context, name string, content io.Reader, size int64, exclusive bool) error
}

// NewStore is a folder, which is made if it is not there, or the URL of a server.
func NewStore(where string) (Store, error) {
	if !strings.Contains(where, "://") {
		if err := os.MkdirAll(where, 0o755); err != nil {
			return nil, fmt.Errorf("make the folder --store: %w", err)
		}
	}
	source, err := NewSource(where)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	switch s := source.(type) {
	case directory:
		return s, nil
	case *remote:
		return s, nil
	}
	return nil, fmt.Errorf("--store %q is neither a folder nor an http URL", where)
}

// Record is what a machine says of a line that it has played.
type Record struct {
	// Plan is the SHA-256 of plan.yaml, in hexadecimal.
	Plan string `json:"plan"`
	Line int    `json:"line"`
	// Verdict of all tries together.
	Verdict check.Verdict `json:"verdict"`
	Tries   []Ended       `json:"tries"`
}

func recordName(plan string, line int) string { return fmt.Sprintf("lines/%s/%05d.json", plan, line) }

// readRecord gives the record of a line; nil if there is none.
func readRecord(ctx context.Context, s Store, plan string, line int) (*Record, error) {
	name := recordName(plan, line)
	raw, err := s.read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of line %d: %w", line, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	r := &Record{}
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("%s is no record: %w", name, err)
	}
	if r.Plan != plan || r.Line != line {
		return nil, fmt.Errorf("%s is of line %d of the plan %.12s, and not of its own", name, r.Line, r.Plan)
	}
	for i, e := range r.Tries {
		if err := (Entry{Ended: &e}).validate(2); err != nil || e.Line != line || e.Try != i+1 {
			return nil, fmt.Errorf("%s has a try that is none of line %d: %w", name, line, errors.Join(err, errors.New("it was changed")))
		}
	}
	return r, nil
}

func conflictName(plan string, line int) string {
	return strings.TrimSuffix(recordName(plan, line), ".json") + "-conflict.json"
}

// putRecord writes the record of a line. Where another machine has played the same line with
// other bundles, both stay: which of them counts nothing says, and Collect refuses the line.
func putRecord(ctx context.Context, s Store, r *Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record of line %d: %w", r.Line, err)
	}
	raw = append(raw, '\n')
	put := func(name string) error {
		return s.write(ctx, name, bytes.NewReader(raw), int64(len(raw)), true)
	}
	err = put(recordName(r.Plan, r.Line))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	before, err := readRecord(ctx, s, r.Plan, r.Line)
	if err != nil {
		return err
	}
	if before != nil && slices.EqualFunc(before.Tries, r.Tries, func(a, b Ended) bool { return a.Digest == b.Digest }) {
		return nil
	}
	if err := put(conflictName(r.Plan, r.Line)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return conflict(r.Line)
}

// refuseConflict is an error where two machines have played a line.
func refuseConflict(ctx context.Context, s Store, plan string, line int) error {
	_, err := s.read(ctx, conflictName(plan, line))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, conflict(line))
}

func conflict(line int) error {
	return fmt.Errorf("two machines have played line %d and left two different bundles, and a run counts once: look at both, and remove the record or the conflict from the store", line)
}

// putBundle puts a bundle into a store. The digests come last, so that a bundle that has them
// is whole.
func putBundle(ctx context.Context, s Store, digest, dir string) error {
	sealed, err := bundle.ReadFile(dir, bundle.DigestFile)
	if err != nil {
		return fmt.Errorf("read the digests of a bundle: %w", err)
	}
	if there, err := s.read(ctx, digest+"/"+bundle.DigestFile); err == nil && bytes.Equal(there, sealed) {
		return nil
	}
	listed, err := bundle.ParseDigests(string(sealed))
	if err != nil {
		return err
	}
	for name := range listed {
		if err := putFile(ctx, s, digest, dir, name); err != nil {
			return err
		}
	}
	return putFile(ctx, s, digest, dir, bundle.DigestFile)
}

func putFile(ctx context.Context, s Store, digest, dir, name string) (err error) {
	file, err := regular.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := s.write(ctx, digest+"/"+name, regular.Reader(ctx, file), info.Size(), false); err != nil {
		return fmt.Errorf("put %s of the bundle %.12s: %w", name, digest, err)
	}
	return nil
}

func (d directory) read(_ context.Context, name string) ([]byte, error) {
	return regular.ReadFile(filepath.Join(string(d), filepath.FromSlash(name)), bundle.MaxText)
}

func (d directory) write(_ context.Context, name string, content io.Reader, _ int64, exclusive bool) (err error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".put-*")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(file.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	if exclusive {
		return os.Link(file.Name(), path) // a rename would replace what another machine wrote
	}
	return os.Rename(file.Name(), path)
}

func (r *remote) read(ctx context.Context, name string) (content []byte, err error) {
	answer, err := r.do(ctx, http.MethodGet, name, nil, 0, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, fs.ErrNotExist
	default:
		return nil, fmt.Errorf("get %s: the server answers %s", name, answer.Status)
	}
	content, err = io.ReadAll(io.LimitReader(answer.Body, bundle.MaxText+1))
	if err == nil && len(content) > bundle.MaxText {
		err = fmt.Errorf("get %s: it has more than %d bytes", name, bundle.MaxText)
	}
	return content, err
}

func (r *remote) write(ctx context.Context, name string, content io.Reader, size int64, exclusive bool) error {
	header := http.Header{}
	if exclusive {
		header.Set("If-None-Match", "*") // RFC 9110, 13.1.2: only where there is none yet
	}
	answer, err := r.do(ctx, http.MethodPut, name, content, size, header)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	switch {
	case answer.StatusCode == http.StatusPreconditionFailed && exclusive:
		return fs.ErrExist
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return fmt.Errorf("put %s: the server answers %s", name, answer.Status)
	}
	return nil
}

func (r *remote) do(ctx context.Context, method, name string, content io.Reader, size int64, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.base.JoinPath(name).String(), content)
	if err != nil {
		return nil, err
	}
	if content != nil {
		request.ContentLength = size
		if size == 0 {
			request.Body = http.NoBody // else the length would count as unknown
		}
	}
	for key, values := range header {
		request.Header[key] = values
	}
	return r.client.Do(request)
}
