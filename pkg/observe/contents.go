package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"
)

// metadataField is the number that ObjectMeta has in the protobuf form of every kind
// of the Kubernetes API.
const metadataField = 1

// digestOfJSON names what an object in JSON holds beside its version, kind and metadata; empty
// if it is no object. The status counts: a migration has to leave that alone, too, and nothing
// but the harness writes the status of its objects.
func digestOfJSON(value []byte) string {
	var object map[string]any
	if json.Unmarshal(value, &object) != nil {
		return ""
	}
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		delete(object, field)
	}
	return digest(object)
}

// digestOfProtobuf does so with an object in protobuf. It is empty where the value cannot be
// taken apart.
func digestOfProtobuf(raw []byte) string {
	sum := sha256.New()
	for len(raw) > 0 {
		field, _, length := protowire.ConsumeField(raw)
		if length < 0 {
			return ""
		}
		if field != metadataField {
			sum.Write(raw[:length])
		}
		raw = raw[length:]
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLength]
}
