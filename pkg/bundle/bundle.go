// Package bundle is the folder that a run writes: its files, and the digests by which a
// reader can check that it is whole. A bundle consists of regular files in folders. The
// package refuses links, also links to files of the same bundle, pipes and devices, and all
// that exceeds MaxFile and the other bounds.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The files of a bundle.
const (
	ReportFile  = "report.yaml"
	JUnitFile   = "junit.xml"
	HistoryFile = "history.jsonl"
	// Compressed is what the name of a history that was compressed with gzip
	// ends in; it is judged all the same.
	Compressed      = ".gz"
	ScenarioFile    = "scenario.yaml"
	TopologyFile    = "topology.yaml"
	EnvironmentFile = "environment.yaml"
	LogDir          = "logs"
	// TimelineFile is a page that shows the run, for a browser.
	TimelineFile = "timeline.html"
	// MetricsFile has the run in numbers, in the text format of Prometheus.
	MetricsFile = "metrics.prom"
	// DigestFile lists a SHA-256 for every other file but the signature, in the
	// format that `sha256sum --check` reads.
	DigestFile = "SHA256SUMS"
	// SignatureFile is the signature of all those digests; see pkg/attest.
	SignatureFile = "signature.dsse.json"
)

// Create makes the folder of a new bundle. An existing folder must be empty:
// the evidence of two runs is never mixed.
func Create(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("the bundle folder %s cannot be read: %w", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("the bundle folder %s is not empty: name another one with --out, or remove it", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the bundle folder %s cannot be made: %w", dir, err)
	}
	if err := probe(dir); err != nil {
		return fmt.Errorf("the bundle folder %s cannot be written to: %w", dir, err)
	}
	if err := os.Mkdir(filepath.Join(dir, LogDir), 0o755); err != nil {
		return fmt.Errorf("the bundle folder %s cannot be written to: %w", dir, err)
	}
	return nil
}

// probe writes a few bytes, so that a full or read-only disk is an error before the run has
// started a control plane.
func probe(dir string) error {
	name := filepath.Join(dir, ".probe")
	err := os.WriteFile(name, make([]byte, 64<<10), 0o644)
	if removeErr := os.Remove(name); err == nil {
		err = removeErr
	}
	return err
}

// Discard removes a new bundle that has no content, so that its name is free for another
// run. A folder that is not empty stays.
func Discard(dir string) {
	// Removing a folder that is not empty fails, so the folder stays.
	_ = os.Remove(filepath.Join(dir, LogDir))
	_ = os.Remove(dir)
}

// Seal writes the digests of all files in the bundle. It fails when the context ends, and
// if the bundle has a file that Audit would refuse.
func Seal(ctx context.Context, dir string) error {
	files, err := list(dir)
	if err != nil {
		return fmt.Errorf("list the bundle: %w", err)
	}
	var b strings.Builder
	for _, f := range files {
		sum, err := DigestOf(ctx, dir, f)
		if err != nil {
			return fmt.Errorf("digest of %s: %w", f, err)
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, f)
	}
	if err := os.WriteFile(filepath.Join(dir, DigestFile), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the digests: %w", err)
	}
	return nil
}

func list(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if rel != DigestFile && rel != SignatureFile {
			files = append(files, filepath.ToSlash(rel))
		}
		if len(files) > MaxFiles {
			return fmt.Errorf("it has more than %d files", MaxFiles)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// ContentDigest is the SHA-256 of what a file holds, in hexadecimal.
func ContentDigest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// FileDigest is the SHA-256 of a file, in hexadecimal.
func FileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
