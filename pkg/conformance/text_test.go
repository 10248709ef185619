package conformance

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestReport_SaysWhoseControlPlaneItIs(t *testing.T) {
	r := &Report{Implementation: &history.Implementation{Organization: "Harbor, Inc.", Project: "Plane", Version: "7.1", URL: "https://example.org"}}
	const want = "The control plane is Plane 7.1 of Harbor, Inc. (https://example.org).\n"
	for _, whose := range []bool{true, false} {
		var text strings.Builder
		if err := r.Text(&text, 0); err != nil {
			t.Fatal(err)
		}
		for name, said := range map[string]string{"text": text.String(), "markdown": r.Markdown()} {
			if strings.Contains(said, want) != whose || !whose && strings.Contains(said, "The control plane is") {
				t.Errorf("%s, told by whom: %t: %s", name, whose, said)
			}
		}
		r.Implementation = nil
	}
}
