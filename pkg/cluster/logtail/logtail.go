// Package logtail gives the end of a log for an error message.
package logtail

import (
	"bytes"
	"os"
	"strings"
)

const (
	// reach is how far from its end a log is read for its last lines.
	reach = 16 << 10
	// most and mostBytes bound what of a log goes into an error.
	most      = 3
	mostBytes = 400
)

// Read is the end of a log in one line, to be shown in an error: the last
// lines that are not empty or, since the end of a crash is only a list of
// functions, the line that says why it crashed.
func Read(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	start := max(0, info.Size()-reach)
	raw := make([]byte, info.Size()-start)
	count, _ := file.ReadAt(raw, start)

	var lines []string
	var crash string
	for line := range bytes.Lines(raw[:count]) {
		if text := strings.TrimSpace(string(line)); text != "" {
			lines = append(lines, text)
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			crash = line
		}
	}
	if crash != "" {
		lines = []string{crash}
	}
	lines = lines[max(0, len(lines)-most):]
	joined := strings.Join(lines, " | ")
	if cut := len(joined) - mostBytes; cut > 0 {
		joined = "…" + strings.ToValidUTF8(joined[cut:], "")
	}
	return joined
}
