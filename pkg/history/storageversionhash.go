package history

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// storageVersionHashBytes is how much of a SHA-256 a storage version hash has.
const storageVersionHashBytes = 8

// StorageVersionHash is the hash that discovery gives for a resource whose objects are stored
// in an apiVersion and a kind (KEP-35, which KEP-2339 leaves as it is).
func StorageVersionHash(apiVersion, kind string) string {
	if !strings.Contains(apiVersion, "/") {
		apiVersion = "/" + apiVersion // the core group has no name
	}
	sum := sha256.Sum256([]byte(apiVersion + "/" + kind))
	return base64.StdEncoding.EncodeToString(sum[:storageVersionHashBytes])
}
