package attest

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// Whatever a signature holds, it is refused or told in words how it differs.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"k","sig":"AA=="}]}`), true)
	f.Add([]byte("{\n  \"payloadType\": \"application/vnd.in-toto+json\",\n  \"payload\": \"e30=\",\n  \"signatures\": [\n    {\n      \"keyid\": \"k\",\n      \"sig\": \"AA==\"\n    }\n  ]\n}\n"), false)
	f.Add([]byte("null"), false)
	key := &PublicKey{key: make([]byte, 32), id: "k"}
	f.Fuzz(func(t *testing.T, raw []byte, some bool) {
		envelope, err := parse(raw)
		if err != nil {
			return
		}
		var digests []bundle.Digest
		if some {
			digests = append(digests, bundle.Digest{Name: "a", SHA256: "b"})
		}
		_ = envelope.KeyID()
		_ = envelope.Statement.Compare(digests, nil)
		if envelope.Check(key) == nil {
			t.Error("it is not signed with the key, and it is right")
		}
	})
}
