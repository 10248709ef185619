package state

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

func TestRoot(t *testing.T) {
	for _, tc := range []struct{ name, state, xdg, home, want string }{
		{"own variable", "/a", "/b", "/c", "/a"},
		{"XDG", "", "/b", "/c", "/b/evenkeel/clusters"},
		{"home", "", "", "/c", "/c/.local/state/evenkeel/clusters"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(RootVariable, tc.state)
			t.Setenv("XDG_STATE_HOME", tc.xdg)
			t.Setenv("HOME", tc.home)
			if got, err := Root(); err != nil || got != tc.want {
				t.Errorf("Root = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestRegister(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clusters")
	entry := register(t, root, "a-1", self(t))
	if err := entry.Update(func(r *Record) { r.Kubeconfig = "k" }); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, others can read it", path, info.Mode())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	entries, err := List(root)
	if err != nil || len(entries) != 1 || entries[0].Record().Kubeconfig != "k" {
		t.Fatalf("List = %v, %v", entries, err)
	}
	if _, err := Register(root, Record{ID: "a-1"}); err == nil {
		t.Error("the same ID could be registered twice")
	}
	if err := entry.Remove(); err != nil {
		t.Fatal(err)
	}
	if entries, err := List(root); err != nil || len(entries) != 0 {
		t.Errorf("List after Remove = %v, %v", entries, err)
	}
}

func TestRegisterWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Register(filepath.Join(file, "clusters"), Record{ID: "a-1"})
	if err == nil || !strings.Contains(err.Error(), "set EVENKEEL_STATE to a folder that can be written to") {
		t.Errorf("error = %v", err)
	}
}

func TestClean(t *testing.T) {
	root := t.TempDir()
	// A sweep goes over the whole machine, and so over what another run of this test has.
	deadID, aliveID := fmt.Sprintf("dead-%d", os.Getpid()), fmt.Sprintf("alive-%d", os.Getpid())
	dead := register(t, root, deadID, Owner{PID: os.Getpid(), StartTime: 1, Boot: procfs.BootID()})
	rebooted := self(t)
	rebooted.Boot = "another boot"
	register(t, root, "rebooted-1", rebooted)
	alive := register(t, root, aliveID, self(t))
	orphan, other := process(t, deadID), process(t, aliveID)

	removed, err := CleanDead(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(removed) != 2 || removed[0].ID != deadID || removed[0].Processes != 1 || removed[1].ID != "rebooted-1" {
		t.Errorf("removed %+v", removed)
	}
	if err := orphan.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the process of the dead cluster ended with %v", err)
	}
	if !gone(dead.Dir) {
		t.Error("the dead cluster's folder is still there")
	}
	if gone(alive.Dir) || !procfs.HasVariable(other.Process.Pid, Marker, aliveID) {
		t.Error("the cluster with a live owner was touched")
	}
	if removed, err := CleanDead(t.Context(), root, nil); err != nil || len(removed) != 0 {
		t.Errorf("the second time removed %v, %v", removed, err)
	}
}

func TestCleanNamedEndsALiveOwner(t *testing.T) {
	root := t.TempDir()
	owner := process(t, "none")
	stat, err := procfs.Read(owner.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	reaped := make(chan error, 1)
	go func() { reaped <- owner.Wait() }()
	register(t, root, "x-1", Owner{PID: owner.Process.Pid, StartTime: stat.StartTime, Boot: procfs.BootID()})
	register(t, root, "y-1", self(t))

	removed, err := CleanNamed(t.Context(), root, "x-1", nil)
	if err != nil || len(removed) != 1 || !removed[0].OwnerEnded {
		t.Errorf("removed %+v, %v", removed, err)
	}
	if err := <-reaped; err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("the owner ended with %v", err)
	}
	if entries, _ := List(root); len(entries) != 1 || entries[0].Record().ID != "y-1" {
		t.Errorf("left are %v", entries)
	}
}

func TestCleanFoldersWithoutRecord(t *testing.T) {
	root := t.TempDir()
	long := time.Now().Add(-2 * nascentAge)
	for name, made := range map[string]time.Time{".new-old-1": long, ".new-young-1": time.Now(), "broken-1": long, ".other": long} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, made, made); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := CleanDead(t.Context(), root, nil)
	if err == nil || !strings.Contains(err.Error(), "broken-1") {
		t.Errorf("error = %v, want one that names the broken folder", err)
	}
	if len(removed) != 1 || removed[0].ID != "old-1" {
		t.Errorf("removed %+v", removed)
	}
	removed, err = CleanAll(t.Context(), root, nil)
	if err != nil || len(removed) != 1 || removed[0].ID != "broken-1" {
		t.Errorf("CleanAll removed %+v, %v", removed, err)
	}
}

func TestReadRefusesAForeignID(t *testing.T) {
	root := t.TempDir()
	entry := register(t, root, "a-1", self(t))
	if err := os.Rename(entry.Dir, filepath.Join(root, "b-1")); err != nil {
		t.Fatal(err)
	}
	if _, err := List(root); err == nil || !strings.Contains(err.Error(), `names the cluster "a-1", not its folder`) {
		t.Errorf("error = %v", err)
	}
}

func register(t *testing.T, root, id string, owner Owner) *Entry {
	t.Helper()
	name, _, _ := strings.Cut(id, "-")
	entry, err := Register(root, Record{ID: id, Name: name, Owner: owner, Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func self(t *testing.T) Owner {
	t.Helper()
	owner, err := Self("test")
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// process starts one that carries the marker and lives until it is killed.
func process(t *testing.T, id string) *exec.Cmd {
	t.Helper()
	command := exec.Command("cat")
	command.Env = append(os.Environ(), Marker+"="+id)
	if _, err := command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _, _ = command.Process.Wait() })
	return command
}
