package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, tc := range []struct {
		name   string
		change func(sealed string) string
		want   []string
	}{
		{"nothing", func(s string) string { return s }, nil},
		{"a line less", func(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest }, []string{"a is extra"}},
		{"a line more", func(s string) string { return s + sum + "  ../../etc/passwd\n" }, []string{`"../../etc/passwd" is missing`}},
		{"another digest", func(s string) string { return sum + s[64:] }, []string{"a has changed: its SHA-256 is"}},
		{"capitals", func(s string) string { return strings.ToUpper(s[:64]) + s[64:] }, []string{"line 1 of SHA256SUMS is no digest", "a is extra"}},
		{"a binary marker", func(s string) string { return strings.Replace(s, "  a", " *a", 1) }, []string{"line 1 of SHA256SUMS is no digest", "a is extra"}},
		{"no end", func(s string) string { return strings.TrimSuffix(s, "\n") }, []string{"line 2 of SHA256SUMS is no digest", "logs/b is extra"}},
		{"a line twice", func(s string) string { return s + s }, []string{`line 3 of SHA256SUMS lists "a" a second time`, `line 4 of SHA256SUMS lists "logs/b" a second time`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string]string{"a": "1", "logs/b": "2", SignatureFile: "not among the digests"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := Seal(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, DigestFile)
			sealed, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tc.change(string(sealed))), 0o600); err != nil {
				t.Fatal(err)
			}
			problems, digests, err := Audit(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != len(tc.want) {
				t.Fatalf("problems %q, want %q", problems, tc.want)
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, want) }) {
					t.Errorf("problems %q, want %q", problems, want)
				}
			}
			if len(digests) != 2 || digests[0].Name != "a" || digests[1].Name != "logs/b" {
				t.Errorf("digests %v", digests)
			}
		})
	}
}

func TestAuditOfNoBundle(t *testing.T) {
	if _, _, err := Audit(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is no bundle") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestHistory(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files []string
		want  string
	}{
		{"plain", []string{HistoryFile}, HistoryFile}, {"compressed", []string{HistoryFile + Compressed}, HistoryFile + Compressed},
		{"none", nil, HistoryFile}, {"both", []string{HistoryFile, HistoryFile + Compressed}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := History(dir)
			if (err != nil) != (tc.want == "") || err == nil && got != filepath.Join(dir, tc.want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
