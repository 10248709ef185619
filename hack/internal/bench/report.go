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

// Progress tells whoever waits what is being done.
func Progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05 ")+format+"\n", args...)
}

// Silence keeps clients from telling on the terminal what the report tells better.
func Silence() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	// Otherwise errors would go there all the same.
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Set("stderrthreshold", "FATAL"); err != nil {
		panic(err)
	}
}

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
