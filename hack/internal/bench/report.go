package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"
)

// Progress tells whoever waits what is being done.
func Progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}

// Silence keeps clients from telling on the terminal what the report tells better.
func Silence() {
	klog.SetOutput(nowhere{})
	klog.LogToStderr(false)
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteFile leaves a report in a file, whose folder it makes.
func WriteFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
