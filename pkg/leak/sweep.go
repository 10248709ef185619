package leak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Find is a credential that was found in a file.
type Find struct {
	// File is its path in the folder, with slashes.
	File string
	// Line counts from 1; in a compressed file it is that of what was compressed.
	Line int
	// What was found, in words.
	What string
}

// String says what was found where.
func (f Find) String() string { return fmt.Sprintf("%s in %s, line %d", f.What, f.File, f.Line) }

// Log is whether it was found in a log, from which no verdict follows.
func (f Find) Log() bool { return strings.HasPrefix(f.File, bundle.LogDir+"/") }

// Sweep searches all files of a bundle for the credentials, and for the forms of those
// that no provider told of, and masks in place what it finds. In logs that is what was found.
// Of a history it is the whole line, which every reader takes for damage: what is left
// of an event is none.
//
// Finds has each credential once for each file, with the first of its lines, in the
// order of files and lines. With an error it is what was found until then, and whether
// the bundle holds anything else is not known.
func Sweep(ctx context.Context, dir string, credentials []credential.Credential) (finds []Find, err error) {
	files, err := regular(dir)
	if err != nil {
		return nil, fmt.Errorf("the files of the bundle %s cannot be listed to search them for credentials: %w", dir, err)
	}
	looked := newPieces(credentials)
	for _, file := range files {
		if ctx.Err() != nil {
			return finds, fmt.Errorf("the search of %s for credentials was interrupted", dir)
		}
		more, err := sweepFile(dir, file, looked)
		finds = append(finds, more...)
		if err != nil {
			return finds, fmt.Errorf("%s in %s could not be searched for credentials and rid of them, so remove it or do not publish it: %w", file, dir, err)
		}
	}
	return finds, nil
}

func sweepFile(dir, file string, looked *pieces) ([]Find, error) {
	where := filepath.Join(dir, filepath.FromSlash(file))
	places, err := search(where, looked)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	var finds []Find
	for _, one := range places {
		for _, what := range one.whats {
			if !slices.ContainsFunc(finds, func(f Find) bool { return f.What == what }) {
				finds = append(finds, Find{File: file, Line: one.line, What: what})
			}
		}
	}
	history := strings.HasPrefix(path.Base(file), bundle.HistoryFile)
	if err := mask(where, places, history); err != nil {
		return finds, err
	}
	left, err := search(where, looked)
	if err == nil && len(left) > 0 {
		err = errors.New("what was found in it is still found after it was masked")
	}
	return finds, err
}

// regular lists the files of a folder, with slashes. Whatever is neither a file nor a
// folder cannot be searched.
func regular(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file", name)
		}
		files = append(files, filepath.ToSlash(name))
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nothing was written
	}
	slices.Sort(files)
	return files, err
}
