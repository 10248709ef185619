package indexedjob

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/conformance"
)

// incidental are the fields of a report that tell when and where a run was played.
var incidental = []string{"plan", "journal", "began", "ended", "until", "run", "date", "bundle"}

// masked is a report without times and the names of folders, in which two campaigns that
// played the same plan may differ.
func masked(t *testing.T, rep *conformance.Report) string {
	t.Helper()
	raw, err := rep.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	mask(document)
	if raw, err = yaml.Marshal(document); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func mask(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range incidental {
			delete(v, name)
		}
		for _, field := range v {
			mask(field)
		}
	case []any:
		for _, element := range v {
			mask(element)
		}
	}
}
