package docs

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the tables of reports/FINDINGS.md anew from the published reports")

const findings = "reports/FINDINGS.md"

// evidence reads the published reports of Kubernetes.
func evidence(t *testing.T, root string) Evidence {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "reports", "kubernetes", "*", "report.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no published reports: %v", err)
	}
	all := Evidence{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var report struct {
			Results []struct {
				ID         string `json:"id"`
				Verdict    string `json:"verdict"`
				Violations []struct {
					Evidence []int `json:"evidence"`
				} `json:"violations"`
			} `json:"results"`
		}
		if err := yaml.Unmarshal(raw, &report); err != nil {
			t.Fatal(err)
		}
		failed := map[string][]int{}
		for _, result := range report.Results {
			if result.Verdict == "fail" {
				failed[result.ID] = nil
				if len(result.Violations) > 0 {
					failed[result.ID] = result.Violations[0].Evidence
				}
			}
		}
		all[filepath.Base(filepath.Dir(file))] = failed
	}
	return all
}

// The findings say what the published reports say, and leave no failure of theirs out.
func TestFindings_AreThoseOfTheReports(t *testing.T) {
	root, _ := repository(t)
	reports := evidence(t, root)
	text := document(t, findings).Text
	written, told := reports.Tables(text)
	if written != text {
		if *update {
			if err := os.WriteFile(filepath.Join(root, findings), []byte(written), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			t.Errorf("the tables of %s are not those of the reports: run `go test ./hack/docs -run TestFindings -update`, and check the text beside them", findings)
		}
	}
	for bundle, failed := range reports {
		for id := range failed {
			if !slices.Contains(told, [2]string{bundle, id}) {
				t.Errorf("%s fails in %s, and no finding tells of it", id, bundle)
			}
		}
	}
}

// Each finding has what an operator asks for, and those of README.md are among them.
func TestFindings_AreWhole(t *testing.T) {
	sections := strings.Split(document(t, findings).Text, "\n### ")[1:]
	if len(sections) < 10 {
		t.Fatalf("there are only %d findings", len(sections))
	}
	for _, section := range sections {
		title, _, _ := strings.Cut(section, "\n")
		for _, part := range []string{"- **Requirements:** ", "- **Versions:** ", "- **Page:** ", "- **Repeat:**", "```sh"} {
			if !strings.Contains(section, part) {
				t.Errorf("the finding %q lacks %q", title, part)
			}
		}
	}
	if rows := strings.Count(document(t, "README.md").Text, "](reports/FINDINGS.md#"); rows != 10 {
		t.Errorf("README.md has %d findings, and should have ten", rows)
	}
}

func TestTables_LeaveOutWhatDoesNotFail(t *testing.T) {
	e := Evidence{"a": {"SV-01": {3, 4}}, "b": {"SV-01": {5}, "SV-02": {6}}, "c": {"SV-02": {7}}}
	written, told := e.Tables("x\n<!-- evidence: SV-01 SV-02 in b c -->\nold\n<!-- end -->\ny\n<!-- evidence: SV-01 -->\n<!-- end -->\n")
	for _, want := range []string{
		"x\n<!-- evidence: SV-01 SV-02 in b c -->\n| bundle",
		"| [b](kubernetes/b/report.yaml) | SV-01 (5), SV-02 (6) |\n| [c](kubernetes/c/report.yaml) | SV-02 (7) |\n<!-- end -->\ny\n",
		"| [a](kubernetes/a/report.yaml) | SV-01 (3, 4) |\n| [b](kubernetes/b/report.yaml) | SV-01 (5) |\n<!-- end -->",
	} {
		if !strings.Contains(written, want) {
			t.Errorf("%q lacks %q", written, want)
		}
	}
	if strings.Contains(written, "old") || len(told) != 5 {
		t.Errorf("got %q, which tells of %v", written, told)
	}
}
