package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/disk"
)

// proc is a /proc, or another folder, with these files.
func proc(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What ends a run is found before, with the command that mends it.
func TestFindings_SayWhatMendsThem(t *testing.T) {
	fine, broken := func() error { return nil }, errors.New("it cannot")
	inotifyOf := func(instances, watches string) string {
		return proc(t, map[string]string{"sys/fs/inotify/max_user_instances": instances, "sys/fs/inotify/max_user_watches": watches})
	}
	open := func(limit uint64, err error) cluster.Finding {
		return openFiles(func() (uint64, error) { return limit, err })
	}
	names := func(settings map[string]string, err error) cluster.Finding {
		return hostNames(t.Context(), proc(t, settings), func(context.Context) error { return err })
	}
	rooms := func(left uint64, err error) cluster.Finding {
		return room(func(string) (uint64, error) { return left, err })
	}
	clock := func(status int32, err error) cluster.Finding {
		return systemClock(func() (int32, error) { return status, err })
	}
	for _, tc := range []struct {
		name       string
		found      cluster.Finding
		ok, needed bool
		detail     string
	}{
		{"enough open files", open(20000, nil), true, false, "at most 20000"},
		{"some open files", open(4096, nil), false, false, "run `ulimit -n 8192`"},
		{"few open files", open(256, nil), false, true, "run `ulimit -n 8192`"},
		{"an unknown number of open files", open(0, broken), true, false, "cannot be told: it cannot"},
		{"enough inotify", inotify(inotifyOf("512\n", "524288\n"), fine), true, false, "512 instances"},
		{"few inotify instances", inotify(inotifyOf("128", "1000000"), fine), false, false, "run `sysctl -w fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=1000000`"},
		{"few inotify watches", inotify(inotifyOf("1024", "8192"), fine), false, false, "run `sysctl -w fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288`"},
		{"no inotify instance left", inotify(inotifyOf("512", "524288"), func() error { return unix.EMFILE }), false, true, "run `sysctl -w fs.inotify.max_user_instances=1024 "},
		{"no inotify", inotify(t.TempDir(), fine), true, false, "cannot be told"},
		{"namespaces", names(nil, nil), true, false, "can be made"},
		{"no namespaces by number", names(map[string]string{"sys/user/max_user_namespaces": "0"}, broken), false, false, "run `sysctl -w user.max_user_namespaces=1000`"},
		{"no namespaces on Debian", names(map[string]string{"sys/kernel/unprivileged_userns_clone": "0", "sys/user/max_user_namespaces": "96365"}, broken), false, false, "run `sysctl -w kernel.unprivileged_userns_clone=1`"},
		{"no namespaces on Ubuntu", names(map[string]string{"sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, broken), false, false, "run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"},
		{"no namespaces in a container", names(nil, broken), false, false, "CAP_SYS_ADMIN"},
		{"much memory", memory(proc(t, map[string]string{"meminfo": "MemFree: 1 kB\nMemAvailable:   8000000 kB\n"}), t.TempDir()), true, false, "7812 MB available"},
		{"some memory", memory(proc(t, map[string]string{"meminfo": "MemAvailable: 2000000 kB\n"}), t.TempDir()), false, false, "run `evenkeel run --topology clusters/local-1.yaml`"},
		{"little memory in a container", memory(proc(t, map[string]string{"meminfo": "MemAvailable: 8000000 kB\n"}), proc(t, map[string]string{"memory.max": "536870912\n"})), false, true, "512 MB for this container"},
		{"a container without a limit", memory(proc(t, map[string]string{"meminfo": "MemAvailable: 8000000 kB\n"}), proc(t, map[string]string{"memory.max": "max\n"})), true, false, "available"},
		{"unknown memory", memory(t.TempDir(), t.TempDir()), true, false, "cannot be told"},
		{"much room", rooms(enoughRoom, nil), true, false, " 2048 MB"},
		{"some room", rooms(disk.Least, nil), false, false, "`evenkeel cluster clean`"},
		{"little room", rooms(disk.Least-1, nil), false, true, "`evenkeel cluster clean`"},
		{"unknown room", rooms(0, broken), true, false, "it cannot"},
		{"a clock that is kept right", clock(unix.STA_NANO, nil), true, false, "synchronized"},
		{"a clock that is not", clock(unix.STA_UNSYNC, nil), false, false, "run `timedatectl set-ntp true`"},
		{"an unknown clock", clock(0, broken), true, false, "cannot be told"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := tc.found
			if f.OK != tc.ok || f.Needed != tc.needed || !strings.Contains(f.Detail, tc.detail) || strings.Contains(f.Detail, "\n") || f.What == "" {
				t.Errorf("%+v, want ok %v, needed %v and %q", f, tc.ok, tc.needed, tc.detail)
			}
		})
	}
}

func TestLimits_OfThisMachineCanBeTold(t *testing.T) {
	if limit, err := openFileLimit(); err != nil || limit == 0 {
		t.Errorf("open files: %d, %v", limit, err)
	}
	if err := tryInotify(); err != nil {
		t.Errorf("inotify: %v", err)
	}
	if _, err := clockStatus(); err != nil {
		t.Errorf("clock: %v", err)
	}
	if left, err := availableMemory("/proc/meminfo"); err != nil || left == 0 {
		t.Errorf("memory: %d, %v", left, err)
	}
}
