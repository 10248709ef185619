// Package logtail gives the end of a log for an error message.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package logtail

import (
	"bytes"
	"os"
	"slices"
	"strings"
)

const (
	// reach is how far from its end a log is read for its last lines.
	reach = 16 << 10
	// most and mostBytes bound what of a log goes into an error.
	most      = 3
	mostBytes = 400
	// mostLines, mostOfLine and mostOfAll bound what Lines gives; the latter are in bytes.
	mostLines  = 20
	mostOfLine = 400
	mostOfAll  = 4000
)

// Read is the end of a log in one line, to be shown in an error: the last
// lines that are not empty or, since the end of a crash is only a list of
// functions, the line that says why it crashed.
func Read(path string) string {
	lines := read(path)
	crash := ""
	if at := crashOf(lines); at >= 0 {
		crash = lines[at]
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

// Lines are the last lines of a log that are not empty or, where it ends with a crash, the
// line that says why it crashed and those behind it. What is left out of a line is shown
// as "…". It is empty where the log cannot be read.
func Lines(path string) []string {
	lines := read(path)
	if at := crashOf(lines); at >= 0 {
		lines = lines[at:min(at+mostLines, len(lines))]
	}
	lines = lines[max(0, len(lines)-mostLines):]
	total := 0
	for i, line := range lines {
		if len(line) > mostOfLine {
			line = strings.ToValidUTF8(line[:mostOfLine], "") + "…"
		}
		if total += len(line); total > mostOfAll {
			return lines[:i]
		}
		lines[i] = line
	}
	return lines
}

// read gives the lines at the end of a log that are not empty.
func read(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	start := max(0, info.Size()-reach)
	raw := make([]byte, info.Size()-start)
	count, _ := file.ReadAt(raw, start)

	var lines []string
	for line := range bytes.Lines(raw[:count]) {
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "")); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// crashOf is the last of the lines that says why a program crashed; -1 if none does.
func crashOf(lines []string) int {
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return i
		}
	}
	return -1
}
