package play

import (
	"crypto/sha1" //nolint:gosec // G505: git names a blob by its SHA-1.
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Judges are the sources that decide verdicts: the reader of histories, the facts, the
// laws, and the bounds that these look up. Each is a folder or a pattern of files, as in
// path.Match, from the root of the repository.
var Judges = []string{"pkg/check", "pkg/fact", "pkg/law", "pkg/requirement/*.yaml"}

// forTests are the names of folders whose sources judge no history. Files that end in
// _test.go judge none either.
var forTests = []string{"stories", "judgetest"}

// Checks is a name for the sources that roots such as Judges have. A result that the same
// sources have judged need not be obtained again.
//
// The name is a digest of a listing as `git ls-tree -r` prints it, with the blob ID of each
// file, so that the name follows from a commit.
func Checks(roots []string) (string, error) {
	sum, tree := sha256.New(), os.DirFS(".")
	for _, root := range roots {
		files, err := sources(tree, root)
		if err != nil {
			return "", fmt.Errorf("read the sources that judge in %s, from the root of the repository: %w", root, err)
		}
		for _, file := range files {
			content, err := fs.ReadFile(tree, file)
			if err != nil {
				return "", fmt.Errorf("read the sources that judge: %w", err)
			}
			//nolint:gosec // G401: git names a blob by its SHA-1.
			blob := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...))
			fmt.Fprintf(sum, "100644 blob %s\t%s\n", hex.EncodeToString(blob[:]), file)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:20]), nil
}

// sources returns the files of a root that judge, at least one.
func sources(tree fs.FS, root string) ([]string, error) {
	found, err := fs.Glob(tree, root)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, one := range found {
		err := fs.WalkDir(tree, one, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains(forTests, path.Base(file)):
				return fs.SkipDir
			case !entry.IsDir() && !strings.HasSuffix(file, "_test.go"):
				files = append(files, file)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there are none")
	}
	return files, nil
}
