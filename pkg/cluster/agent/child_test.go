//go:build linux

package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// childVariable makes the test binary play a component's program: it says that
// it runs, and ends with its standard input.
const childVariable = "EVENKEEL_TEST_CHILD"

// tunnelVariable makes the test binary a tunnel to an address.
const tunnelVariable = "EVENKEEL_TEST_TUNNEL"

// tunnel copies between its standard streams and the address.
func tunnel(address string) error {
	connection, err := net.Dial("tcp", address) //nolint:gosec // G704: the test names the address.
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(connection, os.Stdin) }()
	_, err = io.Copy(os.Stdout, connection)
	return err
}

func TestMain(m *testing.M) {
	if address := os.Getenv(tunnelVariable); address != "" {
		if err := tunnel(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(childVariable) != "" {
		fmt.Println("running")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// programNamed gives a program of a name that no other process has.
func programNamed(t *testing.T, name string) (path, unique string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unique = fmt.Sprintf("%s-%d-%d", name, os.Getpid(), time.Now().UnixNano())
	path = filepath.Join(t.TempDir(), unique)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path, unique
}

// child is a running program.
type child struct {
	*exec.Cmd
	in io.WriteCloser
}

// start runs a command that ends up as the program; said is closed once that
// runs.
func start(t *testing.T, path string, arguments ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(path, arguments...)}
	c.Env = append(os.Environ(), childVariable+"=1")
	var err error
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "running\n" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return c
}

// running is a watcher that looks until the test ends.
func running(t *testing.T, components ...Component) *watcher {
	t.Helper()
	w := newWatcher(components)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { w.run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return w
}

// next waits for the event of an index, and leaves out how long ago it was.
func (w *watcher) next(t *testing.T, index int) Event {
	t.Helper()
	deadline := time.After(eventuallyBound)
	for {
		events, more := w.since(0)
		if len(events) > index {
			one := events[index]
			one.Ago = 0
			return one
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("there is no event %d after %v", index, events)
		}
	}
}

// eventuallyBound is for how long tests wait for what must come.
const eventuallyBound = 30 * time.Second

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, eventuallyBound, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// etcdOf is a component that is recognized by the program alone.
func etcdOf(program string) Component {
	return Component{Name: cluster.Etcd, Program: program, Pod: "etcd"}
}
