package convert

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// ErrCurrent is the error about a bundle that has the format of this evenkeel already.
var ErrCurrent = errors.New("the bundle has the format of this evenkeel already")

// temporary is what the new folder is called until it takes the place of the old one.
const temporary = ".migrating"

// Bundle converts a bundle, whose digests must hold. It writes a new folder beside it, has
// render write what follows from the history there, seals it, and puts it into the place of
// the old one. A failure before that leaves the old folder as it was.
func Bundle(ctx context.Context, dir string, render func(ctx context.Context, dir string) error) (err error) {
	dir = filepath.Clean(dir)
	if !bundle.Lacks(dir, bundle.SignatureFile) {
		return fmt.Errorf("%s is signed, and the signature is of the files as they are: remove its %s, migrate the bundle, and sign it again", dir, bundle.SignatureFile)
	}
	problems, digests, err := bundle.Audit(ctx, dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s is not whole, and new digests would hide that: %s", dir, strings.Join(problems, "; "))
	}
	file, err := bundle.History(dir)
	if err != nil {
		return err
	}
	if err := checkVersion(ctx, file); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	into := dir + temporary
	if err := os.Mkdir(into, 0o755); err != nil {
		return fmt.Errorf("the converted bundle is made in %s, which cannot be created (remove what an interrupted migration left there): %w", into, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(into))
		}
	}()
	if err := write(ctx, dir, into, file, digests); err != nil {
		return err
	}
	if err := render(ctx, into); err != nil {
		return err
	}
	if err := bundle.Seal(ctx, into); err != nil {
		return err
	}
	return replace(dir, into)
}

// replace puts a folder into the place of another one.
func replace(dir, by string) error {
	old := dir + ".old"
	if err := os.Rename(dir, old); err != nil {
		return fmt.Errorf("move the old bundle away: %w", err)
	}
	if err := os.Rename(by, dir); err != nil {
		return errors.Join(fmt.Errorf("move the converted bundle to its place: %w", err), os.Rename(old, dir))
	}
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("the bundle is converted, but the old one could not be removed: %w", err)
	}
	return nil
}

// checkVersion is an error where a history does not have the version that is converted.
func checkVersion(ctx context.Context, file string) (err error) {
	in, err := openPlain(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.NewDecoder(io.LimitReader(in, history.MaxLine)).Decode(&header); err != nil || header.Format != history.Format {
		return fmt.Errorf("%s does not begin with the header of a history", filepath.Base(file))
	}
	switch header.Version {
	case from:
		return nil
	case history.Version:
		return ErrCurrent
	}
	return fmt.Errorf("its history has version %d of the format, and this evenkeel migrates version %d only", header.Version, from)
}

// write writes the converted files of a bundle into a new folder, and a note of what they
// were.
func write(ctx context.Context, dir, into, historyFile string, digests []bundle.Digest) error {
	converted := map[string]string{}
	for _, file := range []struct {
		name    string
		convert func([]byte) ([]byte, error)
	}{{bundle.ScenarioFile, Scenario}, {bundle.TopologyFile, Topology}} {
		if bundle.Lacks(dir, file.name) {
			continue
		}
		raw, err := bundle.ReadFile(dir, file.name)
		if err != nil {
			return fmt.Errorf("read %s: %w", file.name, err)
		}
		content, err := file.convert(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		if err := os.WriteFile(filepath.Join(into, file.name), content, 0o644); err != nil {
			return fmt.Errorf("write the converted bundle: %w", err)
		}
		converted[file.name] = bundle.ContentDigest(content)
	}
	name := filepath.Base(historyFile)
	digest, err := writeHistory(ctx, historyFile, filepath.Join(into, name), converted)
	if err != nil {
		return err
	}
	note := bundle.Migration{From: from, To: history.Version, History: digest, Files: map[string]string{}}
	for _, d := range digests {
		if d.Name != bundle.MigrationFile {
			note.Files[d.Name] = d.SHA256
		}
		if _, done := converted[d.Name]; done || d.Name == name || d.Name == bundle.MigrationFile {
			continue
		}
		if err := place(filepath.Join(dir, filepath.FromSlash(d.Name)), filepath.Join(into, filepath.FromSlash(d.Name))); err != nil {
			return fmt.Errorf("copy %s: %w", d.Name, err)
		}
	}
	notes, err := bundle.ReadMigrations(dir)
	if err != nil {
		return err
	}
	content, err := yaml.Marshal(append(notes, note))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(into, bundle.MigrationFile), append([]byte(bundle.MigrationComment), content...), 0o644)
}

// writeHistory converts a history, compressed if it was, and gives the digest of the old
// plain text.
func writeHistory(ctx context.Context, file, to string, digests map[string]string) (digest string, err error) {
	in, err := openPlain(ctx, file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return "", fmt.Errorf("write the converted history: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	sum := sha256.New()
	var plain io.WriteCloser = out
	if strings.HasSuffix(to, bundle.Compressed) {
		zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
		if err != nil {
			return "", err
		}
		plain = zipped
	}
	if err := History(io.TeeReader(in, sum), plain, digests); err != nil {
		return "", err
	}
	if plain != out {
		if err := plain.Close(); err != nil {
			return "", fmt.Errorf("write the converted history: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// plain is a history as plain text.
type plain struct {
	io.Reader
	file *os.File
}

// Close implements io.Closer.
func (p plain) Close() error { return p.file.Close() }

func openPlain(ctx context.Context, file string) (io.ReadCloser, error) {
	in, err := regular.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	reader := regular.Reader(ctx, in)
	if strings.HasSuffix(file, bundle.Compressed) {
		if reader, err = gzip.NewReader(reader); err != nil {
			return nil, errors.Join(fmt.Errorf("read the compressed history: %w", err), in.Close())
		}
	}
	return plain{io.LimitReader(reader, history.MaxSize), in}, nil
}

// place puts a file that does not change into the new folder.
func place(from, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := regular.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
