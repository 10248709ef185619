//go:build linux

package ownhost

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to run")
	}
	outside, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell, "-c", `echo "$$ $1"; cat /proc/sys/kernel/hostname; echo "marker=$MARKER name=$EVENKEEL_OWN_HOST_NAME"`, "sh", "an argument")
	cmd.Env = append(os.Environ(), "MARKER=kept")
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	Wrap(cmd, "cp1")
	if err := cmd.Start(); err != nil {
		t.Skipf("this machine lets no user make namespaces: %v", Explain(err))
	}
	pid := cmd.Process.Pid
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, complained.String())
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], " an argument") || lines[1] != "cp1" || lines[2] != "marker=kept name=" {
		t.Errorf("it said %q", lines)
	}
	if got := strings.Fields(lines[0])[0]; got != strconv.Itoa(pid) {
		t.Errorf("the program runs as process %s, started was %d", got, pid)
	}
	if now, err := os.Hostname(); err != nil || now != outside {
		t.Errorf("this host is called %q (%v), before it was %q", now, err, outside)
	}
}

func TestWrapOfAProgramThatIsNotThere(t *testing.T) {
	cmd := exec.Command("/nowhere/server")
	var complained bytes.Buffer
	cmd.Stderr = &complained
	Wrap(cmd, "cp1")
	if err := cmd.Start(); err != nil {
		t.Skipf("this machine lets no user make namespaces: %v", err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(complained.String(), `cannot run /nowhere/server on a host called "cp1"`) {
		t.Errorf("%v: %s", err, complained.String())
	}
}

func TestHas(t *testing.T) {
	for _, tc := range []struct {
		name, status string
		want         bool
	}{
		{"all", "Name:\tx\nCapEff:\t000001ffffffffff\n", true},
		{"only that", "CapEff:\t0000000000200000\n", true},
		{"a container's", "CapEff:\t00000000a80425fb\n", false},
		{"none", "CapEff:\t0000000000000000\n", false},
		{"not told", "Name:\tx\n", false},
		{"garbage", "CapEff:\tx\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := has(tc.status, administrator); got != tc.want {
				t.Errorf("has = %v, want %v", got, tc.want)
			}
		})
	}
}
