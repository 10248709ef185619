package procfs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParse(t *testing.T) {
	const between = " 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 "
	// What follows the start time: sizes, addresses, signals, the processor, and
	// last the addresses of data, arguments and environment.
	const loaded = "4711 3133440 382 9 16 17 140 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 24 25 51 364 384 384 891 0"
	const loading = "4711 3133440 382 9 16 17 140 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
	const noMemory = "4711 0 0 9 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
	for _, tc := range []struct {
		name, raw   string
		want        Stat
		executing   bool
		expectError string
	}{
		{"plain", "1 (sh) S" + between + loaded, Stat{'S', 4711, true, 891}, false, ""},
		{"name with spaces and parentheses", "1 (a) b) T" + between + loaded, Stat{'T', 4711, true, 891}, false, ""},
		{"program being loaded", "1 (sh) R" + between + loading, Stat{'R', 4711, true, 0}, true, ""},
		{"killed while it was being loaded", "1 (sh) Z" + between + loading, Stat{'Z', 4711, true, 0}, false, ""},
		{"thread of the kernel", "1 (kworker/0:1) S" + between + noMemory, Stat{'S', 4711, false, 0}, false, ""},
		{"no name", "1 sh S", Stat{}, false, "no command name"},
		{"short", "1 (sh) S 1 2", Stat{}, false, "too few fields"},
		{"start time is no number", "1 (sh) S" + between + strings.Replace(loaded, "4711", "x", 1), Stat{}, false, "start time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parse([]byte(tc.raw))
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) {
					t.Fatalf("error = %v, want one with %q", err, tc.expectError)
				}
				return
			}
			if err != nil || got != tc.want || got.executing() != tc.executing {
				t.Errorf("parse = %v, %v, executing %v; want %v, %v", got, err, got.executing(), tc.want, tc.executing)
			}
		})
	}
}

func TestUnmoved(t *testing.T) {
	loading, first, second := Stat{'R', 1, true, 0}, Stat{'R', 1, true, 891}, Stat{'R', 1, true, 777}
	thread := Stat{'S', 1, false, 0}
	for _, tc := range []struct {
		name           string
		earlier, later Stat
		want           bool
	}{
		{"one program", first, first, true},
		{"no memory", thread, thread, true},
		{"being loaded all the time", loading, loading, false},
		{"in place meanwhile", loading, first, false},
		{"another is being loaded", first, loading, false},
		{"another is in place", first, second, false},
	} {
		if got := tc.later.unmoved(tc.earlier); got != tc.want {
			t.Errorf("%s: unmoved = %v", tc.name, got)
		}
	}
}

func TestAliveTellsAReusedPIDFromTheProcess(t *testing.T) {
	self, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !Alive(os.Getpid(), self.StartTime) {
		t.Error("this process does not count as alive")
	}
	if Alive(os.Getpid(), self.StartTime-1) {
		t.Error("a process with another start time counts as the same one")
	}
}

func TestWithVariable(t *testing.T) {
	// Another run of this test has a child of its own.
	value := fmt.Sprintf("a-%d", os.Getpid())
	child := exec.Command("cat")
	child.Env = []string{"EVENKEEL_TEST_MARKER=" + value}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close(); _ = child.Wait() }()
	found, err := WithVariable("EVENKEEL_TEST_MARKER", value)
	if err != nil || !slices.Equal(found, []int{child.Process.Pid}) {
		t.Errorf("WithVariable = %v, %v, want only %d", found, err, child.Process.Pid)
	}
	if found, _ := WithVariable("EVENKEEL_TEST_MARKER", "a-"); len(found) != 0 {
		t.Errorf("a prefix of the value found %v", found)
	}
}

func TestSocketOwner(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	from, to := client.LocalAddr().(*net.TCPAddr), listener.Addr().(*net.TCPAddr)
	inode, ok, err := SocketInode(from, to)
	if err != nil || !ok {
		t.Fatalf("SocketInode = %v, %v", ok, err)
	}
	if again, ok, err := tabled(from.Port, to.Port); again != inode || !ok || err != nil {
		t.Errorf("the table has %d, %v, %v, and the kernel says %d", again, ok, err, inode)
	}
	if _, ok, err := SocketInode(to, &net.TCPAddr{IP: from.IP, Port: 1}); ok || err != nil {
		t.Errorf("a socket that is not there: %v, %v", ok, err)
	}
	if !HoldsSocket(os.Getpid(), inode) {
		t.Error("the process that dialed does not count as the holder")
	}
	if HoldsSocket(os.Getppid(), inode) {
		t.Error("the parent counts as the holder")
	}
	switch asked, err := diagnosed(from.AddrPort(), to.AddrPort()); {
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.ENOENT):
		t.Skip("this kernel has no tcp_diag, so that only the table was read")
	case err != nil || asked != inode:
		t.Errorf("the kernel says %d, %v, and it is %d", asked, err, inode)
	}
}

// BenchmarkSocketInode compares asking for one socket with reading the table of all.
func BenchmarkSocketInode(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	var client net.Conn
	for range 500 {
		if client, err = net.Dial("tcp", listener.Addr().String()); err != nil {
			b.Fatal(err)
		}
		defer client.Close()
	}
	from, to := client.LocalAddr().(*net.TCPAddr), listener.Addr().(*net.TCPAddr)
	b.Run("asked", func(b *testing.B) {
		for b.Loop() {
			if _, err := diagnosed(from.AddrPort(), to.AddrPort()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			if _, ok, err := tabled(from.Port, to.Port); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}
