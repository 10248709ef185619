package bundle

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOversize(t *testing.T) {
	noise := make([]byte, 50_000)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	const text = "one line of a log\n"
	for _, tc := range []struct {
		name    string
		files   map[string]string
		bound   int64
		largest string // empty where it is not too large
	}{
		{"small as it is", map[string]string{"a": text}, 100, ""},
		{"small once it is compressed", map[string]string{"logs/a": strings.Repeat(text, 10_000), "b": strings.Repeat(text, 10_000)}, 10_000, ""},
		{"large", map[string]string{"logs/a": string(noise), "b": strings.Repeat(text, 10_000)}, 40_000, "logs/a"},
		{"large together", map[string]string{"a": string(noise[:20_000]), "b": string(noise[20_000:])}, 49_000, "b"},
		{"compressed already", map[string]string{"a.gz": strings.Repeat(text, 10_000), "b": text}, 100_000, "a.gz"},
		{"nothing", nil, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, LogDir), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, content := range tc.files {
				write(t, filepath.Join(dir, name), content)
			}
			size, err := Oversize(dir, tc.bound)
			if err != nil {
				t.Fatal(err)
			}
			if size.Largest != tc.largest || (size.Compressed > tc.bound) != (tc.largest != "") || tc.largest == "" && size != (Size{}) {
				t.Errorf("%+v with the bound %d, want %q to be too large", size, tc.bound, tc.largest)
			}
		})
	}
	if _, err := Oversize(filepath.Join(t.TempDir(), "x"), 0); err == nil {
		t.Error("there is no such bundle")
	}
}
