package hack

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain has the test's own program stand in for evenkeel where it is started by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "evenkeel" {
		os.Exit(playUntilInterrupted())
	}
	os.Exit(m.Run())
}

// playUntilInterrupted notes that it plays, and ends with a status of its own.
func playUntilInterrupted() int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM)
	if err := os.WriteFile(os.Getenv("RECORD"), []byte("playing\n"), 0o600); err != nil {
		return 1
	}
	select {
	case <-interrupts:
		return 3
	case <-time.After(time.Minute): // the test has gone
		return 1
	}
}

// Ctrl-C ends all that `make e2e ALL=1` plays, not only the part that goes on.
func TestE2E_EndsWithAnInterrupt(t *testing.T) {
	script, err := os.ReadFile("e2e.sh")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for sent, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		record := filepath.Join(dir, "record")
		writeFiles(t, dir, map[string]string{"hack/e2e.sh": string(script), "path/go": recorder})
		bin := filepath.Join(dir, "bin")
		if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(own, filepath.Join(bin, "evenkeel"))); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), filepath.Join(dir, "hack/e2e.sh"), filepath.Join(dir, "out"))
		command.Env = append(os.Environ(), "ALL=1", "RECORD="+record, "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"))
		// A terminal sends its interrupt to all that it runs.
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, record, "playing")
		if err := syscall.Kill(-command.Process.Pid, sent); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := command.Wait(); !errors.As(err, &ended) || ended.ExitCode() != want {
			t.Errorf("%v: the script ended with %v, want status %d", sent, err, want)
		}
		if raw, err := os.ReadFile(record); err != nil || strings.Contains(string(raw), "== go") {
			t.Errorf("%v: the script went on with %q (%v)", sent, raw, err)
		}
	}
}

// waitFor waits until a file holds a text.
func waitFor(t *testing.T, file, text string) {
	t.Helper()
	for range 1000 {
		if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), text) {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not hold %q after 10 s", file, text)
}
