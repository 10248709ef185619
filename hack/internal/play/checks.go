package play

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ChecksFolder is where the sources of the checks are, from the root of the repository.
const ChecksFolder = "pkg/check"

// Checks is a name for the sources of the checks under a folder, their tests not among
// them, since those judge no history. A result that the same checks have judged need not
// be obtained again.
//
// What is summed up is a listing as `git ls-tree -r` gives it, with each file's name as
// git names its content, so that whoever has a commit can tell which checks it holds.
func Checks(folder string) (string, error) {
	sum, files := sha256.New(), 0
	err := fs.WalkDir(os.DirFS("."), folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		blob := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...))
		files++
		fmt.Fprintf(sum, "100644 blob %s\t%s\n", hex.EncodeToString(blob[:]), path)
		return nil
	})
	if err == nil && files == 0 {
		err = errors.New("there are none")
	}
	if err != nil {
		return "", fmt.Errorf("read the sources of the checks in %s, from the root of the repository: %w", folder, err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:20]), nil
}
