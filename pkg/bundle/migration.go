package bundle

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// MigrationFile is the note that `evenkeel bundle migrate` leaves in a bundle that was
// recorded in an older format.
const MigrationFile = "migrated.yaml"

// MigrationComment begins that file.
const MigrationComment = "# Written by `evenkeel bundle migrate`: this bundle was recorded in an older format, with\n" +
	"# other names of events, steps and fields. These are the SHA-256 of its files as they were.\n"

// Migration is one conversion of a bundle to a newer format.
type Migration struct {
	// From and To are versions of the history format.
	From int `json:"from"`
	To   int `json:"to"`
	// History is the SHA-256 of the old history as plain text.
	History string `json:"history"`
	// Files are the SHA-256 of the old files, by name.
	Files map[string]string `json:"files"`
}

// ReadMigrations gives the conversions of a bundle, in their order; none where it has the
// format that it was recorded in.
func ReadMigrations(dir string) ([]Migration, error) {
	if Lacks(dir, MigrationFile) {
		return nil, nil
	}
	raw, err := ReadFile(dir, MigrationFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", MigrationFile, err)
	}
	var out []Migration
	if err := yaml.UnmarshalStrict(raw, &out); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", MigrationFile, err)
	}
	return out, nil
}
