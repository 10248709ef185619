package report

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// Whatever a report holds, it is refused or shown.
func FuzzReport(f *testing.F) {
	if raw, err := os.ReadFile(filepath.Join("..", "..", "reports", "reference", "local", "report.yaml")); err == nil {
		f.Add(raw)
	}
	f.Add([]byte("apiVersion: evenkeel.dev/v1alpha1\nkind: RunReport\nresults: [{id: SV-01, verdict: pass}]\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &ConformanceReport{}
		if yaml.UnmarshalStrict(raw, r) != nil {
			return
		}
		_ = r.Validate()
		if _, err := r.YAML(); err != nil {
			t.Error(err)
		}
		if _, err := r.JUnit(); err != nil {
			t.Error(err)
		}
		_ = r.Markdown("", nil)
		Diff(r, r)
	})
}
