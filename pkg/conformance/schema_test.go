package conformance

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/schemagen"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

var update = flag.Bool("update", false, "write the schema anew")

// schemaFile is what is committed, and what the package has inside.
const schemaFile = "conformancereport-v1alpha1.json"

// The schema that is committed is the one that follows from the types, and each of its fields
// has a description.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	form := schemagen.Form{
		Type: reflect.TypeFor[Report](), File: schemaFile, APIVersion: APIVersion, Kind: Kind, Sources: map[string]string{},
		Words: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[check.Verdict]():     {Type: "string", Enum: schemagen.Texts(check.Verdicts)},
			reflect.TypeFor[report.Outcome]():    {Type: "string", Enum: schemagen.Texts(report.Outcomes)},
			reflect.TypeFor[requirement.Level](): {Type: "string", Enum: schemagen.Texts([]requirement.Level{requirement.Must, requirement.Should})},
			reflect.TypeFor[requirement.ID]():    {Type: "string", Pattern: `^[A-Z]{2,4}-[0-9]{2}$`},
		},
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Report](), reflect.TypeFor[report.Profile](), reflect.TypeFor[history.Header]()} {
		form.Sources[of.PkgPath()] = filepath.Join("..", filepath.Base(of.PkgPath()))
	}
	s, silent, err := form.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range silent {
		t.Errorf("%s has no comment, and so no description", field)
	}
	tries := s.Properties["lines"].Items.Properties["tries"].Items
	for _, digest := range []*jsonschema.Schema{
		s.Properties["suite"], s.Properties["plan"], s.Properties["journal"], s.Properties["harness"].Properties["digest"],
		s.Properties["requirements"].Items.Properties["breaches"].Items.Properties["bundle"], tries.Properties["bundle"],
	} {
		digest.Pattern = schemagen.SHA256
	}
	want, err := schemagen.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return // what is compiled in is the one from before
	}
	if !bytes.Equal(Schema(), want) {
		t.Errorf("%s is not the schema of the types: `make generate` writes it anew", schemaFile)
	}
}

// conforms is whether the report of a campaign has the form.
func conforms(t *testing.T, document []byte) error {
	t.Helper()
	resolved, err := schemagen.Resolve(Schema())
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := schemagen.Untyped(document)
	if err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(untyped)
}

// The report of a campaign that was played has the form, and what has another form is told
// from it.
func TestSchemaTellsFormsApart(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(mixed(t), ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := conforms(t, raw); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	for name, edit := range map[string][2]string{
		"another kind":       {"kind: ConformanceReport", "kind: RunReport"},
		"a field more":       {"kind: ConformanceReport", "kind: ConformanceReport\nmore: 1"},
		"an unknown verdict": {"verdict: ", "verdict: splendid-"},
		"no digest":          {"journal: ", "journal: x"},
		"no level":           {"level: MUST", "level: MAY"},
	} {
		changed := strings.Replace(string(raw), edit[0], edit[1], 1)
		if changed == string(raw) {
			t.Fatalf("%s: the report has no %q", name, edit[0])
		}
		if conforms(t, []byte(changed)) == nil {
			t.Errorf("%s: it has the form", name)
		}
	}
}
