//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Direct dials an agent at its node's address.
func Direct(address string) Dialer {
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialBound}).DialContext(ctx, "tcp", net.JoinHostPort(address, fmt.Sprint(Port)))
	}
}

// Tunnel makes each connection by a command, whose standard input and output are one, such as
// ssh -W 127.0.0.1:18990 NODE. The command runs in a folder, without a shell, with variables
// beside those of this process.
func Tunnel(command []string, folder string, variables []string) Dialer {
	return func(context.Context) (net.Conn, error) {
		ours, theirs, err := socketPair()
		if err != nil {
			return nil, fmt.Errorf("open a tunnel: %w", err)
		}
		defer theirs.Close()
		running := exec.Command(command[0], command[1:]...)
		running.Dir, running.Env = folder, append(os.Environ(), variables...)
		complaint := &lastWords{}
		running.Stdin, running.Stdout, running.Stderr = theirs, theirs, complaint
		// A group of its own: an interrupt at the terminal is for the harness.
		running.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := running.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("start the tunnel %s: %w", command[0], err), ours.Close())
		}
		return &tunneled{Conn: ours, command: running, complaint: complaint}, nil
	}
}

// socketPair is a connection of this process, and its other end for a child.
func socketPair() (net.Conn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	own, theirs := os.NewFile(uintptr(pair[0]), "tunnel"), os.NewFile(uintptr(pair[1]), "tunnel")
	connection, err := net.FileConn(own)
	return connection, theirs, errors.Join(err, own.Close())
}

// tunneled is a connection through a command, which ends with it.
type tunneled struct {
	net.Conn
	command   *exec.Cmd
	complaint *lastWords
	once      sync.Once
}

// Read implements net.Conn.
func (t *tunneled) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	return n, t.explain(err)
}

// Write implements net.Conn.
func (t *tunneled) Write(p []byte) (int, error) {
	n, err := t.Conn.Write(p)
	return n, t.explain(err)
}

// explain tells what the command complained of where the tunnel has ended.
func (t *tunneled) explain(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	t.end()
	if said := t.complaint.String(); said != "" {
		return fmt.Errorf("the tunnel has ended: %s: %w", said, err)
	}
	return err
}

// end ends the command, and returns when all that it said is there.
func (t *tunneled) end() {
	t.once.Do(func() {
		_ = syscall.Kill(-t.command.Process.Pid, syscall.SIGKILL) // it is no error if it has ended
		_ = t.command.Wait()                                      // it was killed
	})
}

// Close implements net.Conn.
func (t *tunneled) Close() error {
	err := t.Conn.Close()
	t.end()
	return err
}

// lastWords keeps the end of what a command says.
type lastWords struct {
	mu   sync.Mutex
	said []byte
}

// wordsLimit is how much is kept.
const wordsLimit = 500

// Write implements io.Writer.
func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, p...)
	l.said = l.said[max(0, len(l.said)-wordsLimit):]
	return len(p), nil
}

// String is what was said, in one line.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(strings.Fields(string(l.said)), " ")
}
