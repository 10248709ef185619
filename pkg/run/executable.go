package run

import (
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// self is the program that runs, also if its file was replaced or removed since it was
// started.
const self = "/proc/self/exe"

// executableDigest returns the SHA-256 of this program, in hexadecimal: any build can
// claim a version, and the digest identifies the program itself.
var executableDigest = sync.OnceValues(func() (string, error) {
	digest, err := bundle.FileDigest(self)
	if err != nil {
		return "", fmt.Errorf("the digest of this program cannot be made (is /proc mounted?): %w", err)
	}
	return digest, nil
})
