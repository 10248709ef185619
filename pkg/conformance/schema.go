package conformance

import (
	_ "embed"
	"slices"
)

// schemaJSON is generated from the types of this package; see schema_test.go.
//
//go:embed conformancereport-v1alpha1.json
var schemaJSON []byte

// Schema is the JSON schema (draft 2020-12) of the report of a campaign. It describes the
// form; that the report follows from plan, journal and bundles is what Verify checks.
func Schema() []byte { return slices.Clone(schemaJSON) }
