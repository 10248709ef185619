package leak

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const token = "the-very-secret-token"

var known = []credential.Credential{credential.Token("the token of cp1", token)}

func TestSweep(t *testing.T) {
	clean := "2026 a line\nanother one\n"
	dirty := "2026 a line\nBearer " + token + " came\nand " + token + " again\n"
	masked := "2026 a line\nBearer (masked) came\nand (masked) again\n"
	record := `{"format":"evenkeel-history","version":2}` + "\n" + `{"seq":1,"kind":"note","text":"` + token + `"}` + "\n" + `{"seq":2,"kind":"end","end":{}}` + "\n"
	damaged := `{"format":"evenkeel-history","version":2}` + "\n(masked)\n" + `{"seq":2,"kind":"end","end":{}}` + "\n"
	for _, tc := range []struct {
		file, content, want string
		zipped              bool
		line                int
		log                 bool
	}{
		{"logs/cp1-etcd.log", clean, clean, false, 0, true},
		{"logs/cp1-etcd.log", dirty, masked, false, 2, true},
		{"logs/cp1-etcd.log.gz", dirty, masked, true, 2, true},
		{"logs/cp1-etcd.log.gz", clean, clean, true, 0, true},
		{"logs/deep/down.log", dirty, masked, false, 2, true},
		{"logs/empty.log", "", "", false, 0, true},
		{"history.jsonl", record, damaged, false, 2, false},
		{"history.jsonl", strings.TrimSuffix(record, "\n"), strings.TrimSuffix(damaged, "\n"), false, 2, false},
		{"history.jsonl.gz", record, damaged, true, 2, false},
		{"report.yaml", dirty, masked, false, 2, false},
		{"scenario.yaml", "token: " + token, "token: (masked)", false, 1, false},
		{"topology.yaml", "token: " + token, "token: (masked)", false, 1, false},
		{"environment.yaml", "token: " + token, "token: (masked)", false, 1, false},
		{"timeline.html", "<p>" + token + "</p>", "<p>(masked)</p>", false, 1, false},
		{"metrics.prom", clean, clean, false, 0, false},
	} {
		t.Run(tc.file, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tc.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			raw := []byte(tc.content)
			if tc.zipped {
				raw = zip(t, tc.content)
			}
			if err := os.WriteFile(path, raw, 0o640); err != nil {
				t.Fatal(err)
			}
			finds, err := Sweep(t.Context(), dir, known)
			if err != nil {
				t.Fatal(err)
			}
			var want []Find
			if tc.line > 0 {
				want = []Find{{tc.file, tc.line, "the token of cp1"}}
			}
			if !slices.Equal(finds, want) || len(finds) > 0 && finds[0].Log() != tc.log {
				t.Errorf("found %v, want %v", finds, want)
			}
			if got := content(t, path, tc.zipped); got != tc.want {
				t.Errorf("it is\n%s\nwant\n%s", got, tc.want)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if left, err := fs.Glob(os.DirFS(filepath.Dir(path)), ".*"); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
			}
			if again, err := Sweep(t.Context(), dir, known); err != nil || len(again) > 0 {
				t.Errorf("searched again: %v, %v", again, err)
			}
		})
	}
}

// What is left of an event is none: no judge can take it for what was recorded.
func TestMaskedHistoryIsDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.jsonl")
	text := `{"format":"evenkeel-history","version":` + strconv.Itoa(history.Version) + `,"run":"r"}` + "\n" +
		`{"seq":1,"at":1,"kind":"step","step":{"index":1,"text":"` + token + `"}}` + "\n" + `{"seq":2,"at":2,"kind":"end","end":{"complete":true}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if finds, err := Sweep(t.Context(), dir, known); err != nil || len(finds) != 1 {
		t.Fatalf("%v, %v", finds, err)
	}
	reader, err := history.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for {
		if _, err := reader.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if said := strings.Join(reader.Damage, " "); !strings.Contains(said, "Line 2 is no event") {
		t.Errorf("damage: %s", said)
	}
}

// A history can be larger than memory, and have lines longer than any buffer.
func TestLongLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "history.jsonl")
	long := strings.Repeat("some text, ", 100_000)
	if err := os.WriteFile(path, []byte("first\n"+long+token+long+"\n"+long+"\nlast"), 0o600); err != nil {
		t.Fatal(err)
	}
	finds, err := Sweep(t.Context(), dir, known)
	if err != nil || len(finds) != 1 || finds[0].Line != 2 {
		t.Fatalf("%v, %v", finds, err)
	}
	if got := content(t, path, false); got != "first\n(masked)\n"+long+"\nlast" {
		t.Errorf("%d bytes are left", len(got))
	}
}

func TestSweepFails(t *testing.T) {
	dir := t.TempDir()
	if finds, err := Sweep(t.Context(), filepath.Join(dir, "x"), known); err != nil || len(finds) > 0 {
		t.Errorf("where nothing was written: %v, %v", finds, err)
	}
	write := func(name string, raw []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", []byte(token))
	zipped := zip(t, strings.Repeat(token, 1000))
	write("b.gz", zipped[:len(zipped)-10])
	finds, err := Sweep(t.Context(), dir, known)
	if err == nil || !strings.Contains(err.Error(), "b.gz in") || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), token) || len(finds) != 1 {
		t.Errorf("%v, %v", finds, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Sweep(ended, dir, known); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Sweep(t.Context(), dir, known); err == nil || !strings.Contains(err.Error(), "link is no regular file") {
		t.Errorf("error %v", err)
	}
}

func TestFindSaysWhatAndWhere(t *testing.T) {
	if got := (Find{"logs/a.log", 7, "the token of cp1"}).String(); got != "the token of cp1 in logs/a.log, line 7" {
		t.Error(got)
	}
}

// BenchmarkFinder tells how fast a file is searched for the keys of a cluster.
func BenchmarkFinder(b *testing.B) {
	text := strings.Repeat(`{"seq":97,"at":3120406125,"from":3118201984,"kind":"request","member":"cp1","request":{"class":"guarded","verb":"create","code":503,"barrier":true}}`+"\n", 10000)
	var all []credential.Credential
	for range 40 {
		all = append(all, credential.Token("a token", rand.Text()))
	}
	looked := newPieces(all)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f := newFinder(looked)
		_, _ = f.Write([]byte(text))
	}
}

func reader(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func content(t *testing.T, path string, zipped bool) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !zipped {
		return string(raw)
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
