package explore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// FaultFiles has an entry for each fault file of the fixtures: it is used as it is, under a name
// of the schedule's own.
func FaultFiles(fixtures fs.FS) ([]registry.Entry, error) {
	var out []registry.Entry
	err := each(fixtures, "faults", func(name string, raw []byte) error {
		parsed, err := fault.Parse(name, raw)
		if err != nil {
			return err
		}
		out = append(out, registry.Entry{
			Kind: registry.Fault, Name: parsed.Type + "/" + name, Needs: parsed.Needs(),
			Cost: func(registry.Values) time.Duration { return parsed.Duration },
			Compose: func(name string, _ registry.Values) ([]byte, error) {
				return named(raw, name)
			},
		})
		return nil
	})
	return out, err
}

func each(fixtures fs.FS, folder string, do func(name string, raw []byte) error) error {
	files, err := fs.ReadDir(fixtures, folder)
	if err != nil {
		return fmt.Errorf("read the fixtures: %w", err)
	}
	for _, one := range files {
		raw, err := fs.ReadFile(fixtures, path.Join(folder, one.Name()))
		if err != nil {
			return fmt.Errorf("read the fixtures: %w", err)
		}
		if err := do(one.Name(), raw); err != nil {
			return err
		}
	}
	return nil
}

// named is an object under another name.
func named(raw []byte, name string) ([]byte, error) {
	var object map[string]any
	if err := yaml.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("there is no object to name")
	}
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["name"] = name
	return yaml.Marshal(object)
}
