package logtail

import (
	"os"
	"path/filepath"
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
