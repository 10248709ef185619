package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/regular"
)

// Digest is the SHA-256 of a file of a bundle, in hexadecimal.
type Digest struct {
	Name, SHA256 string
}

// Audit compares a bundle with the digests that it was sealed with. Problems has one
// sentence for each file that is missing, extra, changed, too large or not a regular file,
// and for each line of the digests that is malformed; digests are those that the files have
// now. Audit fails if it cannot read the folder or its digests, and when the context ends.
//
// The digests reveal damage and mistakes. A forger who changes a bundle writes new digests;
// judging again and signatures reveal that.
func Audit(ctx context.Context, dir string) (problems []string, digests []Digest, err error) {
	sealed, err := ReadFile(dir, DigestFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, errors.New("there is no such folder")
		}
		return nil, nil, fmt.Errorf("it has no %s, so it is no bundle, or one of a run that has not ended", DigestFile)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the digests: %w", err)
	}
	listed, problems := parseDigests(string(sealed))
	files, err := list(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list the bundle: %w", err)
	}
	if err := measure(dir, files); err != nil {
		return nil, nil, err
	}
	for _, name := range files {
		sum, err := DigestOf(ctx, dir, name)
		switch {
		case errors.Is(err, regular.ErrIrregular):
			problems = append(problems, fmt.Sprintf("%q is no regular file", name))
			delete(listed, name)
			continue
		case errors.Is(err, regular.ErrTooLarge):
			problems = append(problems, fmt.Sprintf("%q has more than %d bytes, which no file of a bundle has: it was not read", name, int64(MaxFile)))
			delete(listed, name)
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("digest of %q: %w", name, err)
		}
		digests = append(digests, Digest{name, sum})
		switch want, ok := listed[name]; {
		case !ok:
			problems = append(problems, fmt.Sprintf("%s is extra: %s does not list it", name, DigestFile))
		case want != sum:
			problems = append(problems, fmt.Sprintf("%s has changed: its SHA-256 is %s, and %s says %s", name, sum, DigestFile, want))
		}
		delete(listed, name)
	}
	missing := make([]string, 0, len(listed))
	for name := range listed {
		missing = append(missing, name)
	}
	slices.Sort(missing)
	for _, name := range missing {
		problems = append(problems, fmt.Sprintf("%q is missing: %s lists it", name, DigestFile))
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("there are %d more problems like these", more))
	}
	return problems, digests, nil
}

// maxProblems is how many problems Audit lists.
const maxProblems = 100

// measure returns an error if a bundle is too large to be read. It does not count a file
// that is too large by itself, which is a problem of its own and is not read.
func measure(dir string, files []string) error {
	var total int64
	for _, name := range files {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("measure %q: %w", name, err)
		}
		if info.Mode().IsRegular() && info.Size() <= MaxFile {
			total += info.Size()
		}
	}
	if total > MaxTotal {
		return fmt.Errorf("the files of the bundle have %d bytes together, and at most %d are read", total, int64(MaxTotal))
	}
	return nil
}

// ParseDigests reads the digests of a bundle by the names of the files; an error says what is
// no digest.
func ParseDigests(sealed string) (map[string]string, error) {
	listed, problems := parseDigests(sealed)
	if len(problems) > 0 {
		return nil, errors.New(problems[0])
	}
	return listed, nil
}

// parseDigests reads exactly the format that Seal and `sha256sum` write: if it accepted more,
// two readers could see different bundles.
func parseDigests(sealed string) (listed map[string]string, problems []string) {
	listed = map[string]string{}
	number := 0
	for line := range strings.Lines(sealed) {
		number++
		sum, name, ok := strings.Cut(line, "  ")
		name, whole := strings.CutSuffix(name, "\n")
		if !ok || !whole || name == "" || len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
			problems = append(problems, fmt.Sprintf("line %d of %s is no digest", number, DigestFile))
			continue
		}
		if _, twice := listed[name]; twice {
			problems = append(problems, fmt.Sprintf("line %d of %s lists %q a second time", number, DigestFile, name))
		}
		listed[name] = sum
	}
	return listed, problems
}

// History finds the history of a bundle, compressed or not. It is an error if the bundle
// has both, because it is not clear which one to judge.
func History(dir string) (string, error) {
	plain := filepath.Join(dir, HistoryFile)
	_, plainErr := os.Lstat(plain)
	_, zippedErr := os.Lstat(plain + Compressed)
	switch {
	case plainErr == nil && zippedErr == nil:
		return "", fmt.Errorf("it has both %s and %s, and only one of them can be its history", HistoryFile, HistoryFile+Compressed)
	case errors.Is(plainErr, fs.ErrNotExist) && zippedErr == nil:
		return plain + Compressed, nil
	}
	return plain, nil
}
