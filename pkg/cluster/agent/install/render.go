//go:build linux

package install

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// YAML writes objects as users do: without a status, and without fields that the server sets.
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
