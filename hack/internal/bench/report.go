package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"
)

// Progress tells the user on standard error what the benchmark is doing.
func Progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}

// Silence keeps clients from logging to the terminal, because the report has their errors.
func Silence() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	// Without this flag klog writes errors to the terminal all the same.
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Set("stderrthreshold", "FATAL"); err != nil {
		panic(err)
	}
}

// WriteFile writes a report to a file, and makes its folder.
func WriteFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
