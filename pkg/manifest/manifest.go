// Package manifest writes objects of Kubernetes for users who look at them and apply them.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package manifest

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// YAML writes objects as users do: without a status, and without fields that the server sets. Each
// begins with a line that separates documents.
func YAML(objects ...any) ([]byte, error) {
	var out []byte
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("encode the manifest: %w", err)
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, fmt.Errorf("encode the manifest: %w", err)
		}
		delete(fields, "status")
		text, err := yaml.Marshal(fields)
		if err != nil {
			return nil, fmt.Errorf("encode the manifest: %w", err)
		}
		out = append(append(out, "---\n"...), text...)
	}
	return out, nil
}
