// Histories writes the fixtures of pkg/check: for each requirement that has a
// check a history that keeps the promise, one with the smallest change that
// breaks it, and one in which too little was seen.
//
//	go run ./hack/histories
//
// All are made of one story of a control plane that does everything right
// (story.go); what is changed for each requirement is in cases.go. The files
// are the same each time.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func main() {
	out := flag.String("out", "fixtures/histories", "the folder to write to")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "histories:", err)
		os.Exit(1)
	}
}

func write(out string) error {
	for _, c := range cases {
		for name, events := range c.files() {
			data, err := encode(c.header(), events)
			if err != nil {
				return fmt.Errorf("%s/%s: %w", c.id, name, err)
			}
			file := filepath.Join(out, string(c.id), name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return fmt.Errorf("make the folder of %s: %w", c.id, err)
			}
			if err := os.WriteFile(file, data, 0o644); err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
		}
	}
	return nil
}

// encode gives a history with the header and the events, numbered anew.
func encode(header history.Header, events []history.Event) ([]byte, error) {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(header); err != nil {
		return nil, err
	}
	for i, ev := range events {
		ev.Seq = int64(i + 1)
		if err := lines.Encode(ev); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
