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

// TestMain has the test's own program stand in for evenkeel and go where it is started by their names.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case name == "evenkeel", name == "go" && os.Args[1] == "tool":
		os.Exit(playUntilInterrupted(os.Getenv("RECORD") + "." + name))
	case name == "go":
		return
	}
	os.Exit(m.Run())
}

// playUntilInterrupted notes in a file that it plays, then that it has ended, and does so with a
// status of its own.
func playUntilInterrupted(record string) int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM)
	if err := os.WriteFile(record, []byte("playing\n"), 0o600); err != nil {
		return 1
	}
	select {
	case <-interrupts:
		if err := os.WriteFile(record, []byte("ended\n"), 0o600); err != nil {
			return 1
		}
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
		writeFiles(t, dir, map[string]string{"hack/e2e.sh": string(script)})
		bin, path := filepath.Join(dir, "bin"), filepath.Join(dir, "path")
		if err := errors.Join(os.Mkdir(bin, 0o755), os.Mkdir(path, 0o755),
			os.Symlink(own, filepath.Join(bin, "evenkeel")), os.Symlink(own, filepath.Join(path, "go"))); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), filepath.Join(dir, "hack/e2e.sh"), filepath.Join(dir, "out"))
		command.Env = append(os.Environ(), "ALL=1", "RECORD="+record, "PATH="+path+":"+os.Getenv("PATH"))
		// A terminal sends its interrupt to all that it runs.
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		playing := []string{record + ".evenkeel", record + ".go"}
		for _, one := range playing {
			waitFor(t, one, "playing")
		}
		if err := syscall.Kill(-command.Process.Pid, sent); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := command.Wait(); !errors.As(err, &ended) || ended.ExitCode() != want {
			t.Errorf("%v: the script ended with %v, want status %d", sent, err, want)
		}
		for _, one := range playing {
			if raw, err := os.ReadFile(one); err != nil || string(raw) != "ended\n" {
				t.Errorf("%v: when the script has ended, %s says %q (%v)", sent, one, raw, err)
			}
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
