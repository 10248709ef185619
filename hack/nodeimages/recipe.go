package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

const folderMode, programMode, fileMode = 0o755, 0o755, 0o644

//go:embed files pause/*.go balancer/*.go *.go
var recipe embed.FS

// key names what is made from the ingredients by these files of the recipe, so
// that an image is never older than how it is made.
func key(files []string, ingredients ...string) (string, error) {
	sum := sha256.New()
	for _, pattern := range files {
		found, err := fs.Glob(recipe, pattern)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s is not part of the recipe", pattern)
		}
		if err != nil {
			return "", err
		}
		for _, path := range found {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			content, err := recipe.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s\x00%d\x00%s", path, len(content), content)
		}
	}
	fmt.Fprintf(sum, "%q", ingredients)
	return hex.EncodeToString(sum.Sum(nil))[:keyLength], nil
}

// keyLength is enough to tell one person's images apart.
const keyLength = 12

// ours is a file of this folder, embedded: that it is there is for the compiler
// and the tests to prove.
func ours(name string) []byte {
	content, err := recipe.ReadFile("files/" + name)
	if err != nil {
		panic(err)
	}
	return content
}
