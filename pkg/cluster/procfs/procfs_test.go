package procfs

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const tail = " 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"
	for _, tc := range []struct {
		name, raw   string
		want        Stat
		expectError string
	}{
		{"plain", "1 (sh) S" + tail, Stat{'S', 4711}, ""},
		{"name with spaces and parentheses", "1 (a) b) T" + tail, Stat{'T', 4711}, ""},
		{"no name", "1 sh S", Stat{}, "no command name"},
		{"short", "1 (sh) S 1 2", Stat{}, "too few fields"},
		{"start time is no number", "1 (sh) S" + strings.Replace(tail, "4711", "x", 1), Stat{}, "start time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parse([]byte(tc.raw))
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) {
					t.Fatalf("error = %v, want one with %q", err, tc.expectError)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("parse = %v, %v, want %v", got, err, tc.want)
			}
		})
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
	child := exec.Command("cat")
	child.Env = []string{"EVENKEEL_TEST_MARKER=a-1"}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); child.Wait() }()
	found, err := WithVariable("EVENKEEL_TEST_MARKER", "a-1")
	if err != nil || !slices.Equal(found, []int{child.Process.Pid}) {
		t.Errorf("WithVariable = %v, %v, want only %d", found, err, child.Process.Pid)
	}
	if found, _ := WithVariable("EVENKEEL_TEST_MARKER", "a"); len(found) != 0 {
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
	inode, ok, err := SocketInode(client.LocalAddr().(*net.TCPAddr).Port, listener.Addr().(*net.TCPAddr).Port)
	if err != nil || !ok {
		t.Fatalf("SocketInode = %v, %v", ok, err)
	}
	if !HoldsSocket(os.Getpid(), inode) {
		t.Error("the process that dialed does not count as the holder")
	}
	if HoldsSocket(os.Getppid(), inode) {
		t.Error("the parent counts as the holder")
	}
}
