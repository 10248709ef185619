package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// object is JSON of which only some keys are known: the others pass unread, so
// that no later version of the format loses anything.
type object map[string]json.RawMessage

// change edits the value of a key; a key that is not there stays so.
func change[T any](o object, key string, edit func(T) (T, error)) error {
	raw, ok := o[key]
	if !ok {
		return nil
	}
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return fmt.Errorf("%s cannot be read: %w", key, err)
	}
	value, err := edit(value)
	if err != nil {
		return err
	}
	o[key], err = json.Marshal(value)
	return err
}

// permit takes out of a process what a host whose bounding set lacks these
// capabilities cannot give: the capabilities, and with CAP_SYS_RESOURCE an OOM
// score that is better than its starter's.
func permit(process object, missing map[string]bool) (object, error) {
	err := change(process, "capabilities", func(sets map[string][]string) (map[string][]string, error) {
		for set, names := range sets {
			sets[set] = slices.DeleteFunc(names, func(name string) bool { return missing[name] })
		}
		return sets, nil
	})
	if err != nil || !missing["CAP_SYS_RESOURCE"] {
		return process, err
	}
	return process, change(process, "oomScoreAdj", func(score int) (int, error) { return max(score, 0), nil })
}

// permitFile rewrites a bundle's config.json, where the process is below a key,
// or the process file of an exec, which is one itself.
func permitFile(path string, nested bool, missing map[string]bool) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var whole object
	if err := json.Unmarshal(raw, &whole); err != nil {
		return fmt.Errorf("%s cannot be read: %w", path, err)
	}
	if nested {
		err = change(whole, "process", func(process object) (object, error) { return permit(process, missing) })
	} else {
		whole, err = permit(whole, missing)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	changed, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, changed, info.Mode())
}
