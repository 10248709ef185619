package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// schemaJSON is generated from the types of this package; see schema_test.go.
//
//go:embed runreport-v1alpha1.json
var schemaJSON []byte

// Schema is the JSON schema (draft 2020-12) of a report. It describes the form; the
// rules between fields are those of Validate.
func Schema() []byte { return slices.Clone(schemaJSON) }

// SchemaDigest is the version of the form to the letter: the SHA-256, in hexadecimal,
// of the schema without its descriptions. It is another one as soon as a field comes,
// goes or takes other values, also while APIVersion stays.
func SchemaDigest() string { return schemaDigest() }

var schemaDigest = sync.OnceValue(func() string {
	digest, err := digestOfForm(schemaJSON)
	if err != nil {
		// It is compiled in, and a test of this package reads it.
		panic(fmt.Sprintf("the schema of reports: %v", err))
	}
	return digest
})

func digestOfForm(schema []byte) (string, error) {
	var form any
	if err := json.Unmarshal(schema, &form); err != nil {
		return "", err
	}
	wordless(form)
	raw, err := json.Marshal(form)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// wordless takes out what is there for people alone. A property that has the name of
// such a keyword is no text, and stays.
func wordless(form any) {
	switch f := form.(type) {
	case map[string]any:
		for _, keyword := range []string{"description", "title"} {
			if _, isText := f[keyword].(string); isText {
				delete(f, keyword)
			}
		}
		for _, below := range f {
			wordless(below)
		}
	case []any:
		for _, below := range f {
			wordless(below)
		}
	}
}
