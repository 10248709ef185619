package kubernetes

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
)

// identityBytes is how much of the hash goes into an identity.
const identityBytes = 16

// ServerID is what a kube-apiserver calls itself on a host of the name. It
// follows from the host name alone, so it outlives restarts and upgrades.
func ServerID(hostname string) string {
	var hashed []byte
	for _, part := range []string{hostname, APIServer} {
		//nolint:gosec // G115: a host name has at most 253 bytes.
		hashed = binary.BigEndian.AppendUint16(hashed, uint16(len(part)))
		hashed = append(hashed, part...)
	}
	sum := sha256.Sum256(hashed)
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:identityBytes]))
}
