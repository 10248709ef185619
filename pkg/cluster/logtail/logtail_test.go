package logtail

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 2*mostBytes)
	for _, tc := range []struct{ name, log, want string }{
		{"empty", "", ""},
		{"few lines", "a\n\nb\n", "a | b"},
		{"last lines", "a\nb\nc\nd\n", "b | c | d"},
		{"crash", "a\npanic: b\n\ngoroutine 1:\nmain.main()\n\tmain.go:1\n", "panic: b"},
		{"end of a long line", long, "…" + long[:mostBytes]},
		{"beyond its reach", strings.Repeat("y\n", reach), "y | y | y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Read(file); got != tc.want {
				t.Errorf("tail = %q, want %q", got, tc.want)
			}
		})
	}
	if got := Read("missing"); got != "" {
		t.Errorf("tail of nothing = %q", got)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 2*mostOfLine)
	for _, tc := range []struct {
		name, log string
		want      []string
	}{
		{"empty", "", nil},
		{"few lines", "a\n\nb\n", []string{"a", "b"}},
		{"last lines", strings.Repeat("a\n", 5) + strings.Repeat("b\n", mostLines), slices.Repeat([]string{"b"}, mostLines)},
		{"crash", "a\npanic: b\n\ngoroutine 1:\n" + strings.Repeat("c\n", 2*mostLines), append([]string{"panic: b", "goroutine 1:"}, slices.Repeat([]string{"c"}, mostLines-2)...)},
		{"long line", long, []string{long[:mostOfLine] + "…"}},
		{"no UTF-8", "a\xffb", []string{"ab"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, []byte(tc.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Lines(file); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got := Lines(filepath.Join(t.TempDir(), "none")); got != nil {
		t.Errorf("a log that is not there ends with %q", got)
	}
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte(strings.Repeat(long+"\n", mostLines)), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := len(strings.Join(Lines(file), "")); all == 0 || all > mostOfAll {
		t.Errorf("%d bytes of a log with long lines", all)
	}
}
