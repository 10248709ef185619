package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// What a run takes of what the kernel limits. An API server keeps some three hundred files
// and connections open, an etcd as many, and the harness several for each of them; nodes of
// kind take what the kind project recommends.
const (
	leastOpenFiles        = 1024
	enoughOpenFiles       = 8192
	enoughInotifyInstance = 512
	enoughInotifyWatches  = 524288
)

// openFiles is about how many files a process may open, which Go programs raise to the hard
// limit by themselves.
func openFiles(limit func() (uint64, error)) cluster.Finding {
	f := cluster.Finding{What: "open files"}
	hard, err := limit()
	if err != nil {
		f.OK, f.Detail = true, fmt.Sprintf("the limit cannot be told: %v", err)
		return f
	}
	f.Detail = fmt.Sprintf("at most %d for each process", hard)
	f.OK, f.Needed = hard >= enoughOpenFiles, hard < leastOpenFiles
	if !f.OK {
		f.Detail += fmt.Sprintf(": a run of three members wants %d; run `ulimit -n %d` as root before evenkeel, or raise nofile in /etc/security/limits.conf", enoughOpenFiles, enoughOpenFiles)
	}
	return f
}

func openFileLimit() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit.Max, err
}

// inotify is about how many files a user's processes may watch: API servers watch their
// certificates, and kubelets much more.
func inotify(proc string, try func() error) cluster.Finding {
	f := cluster.Finding{What: "inotify"}
	instances, errInstances := number(filepath.Join(proc, "sys/fs/inotify/max_user_instances"))
	watches, errWatches := number(filepath.Join(proc, "sys/fs/inotify/max_user_watches"))
	if err := errors.Join(errInstances, errWatches); err != nil {
		f.OK, f.Detail = true, "the limits cannot be told: "+strings.ReplaceAll(err.Error(), "\n", "; ")
		return f
	}
	remedy := fmt.Sprintf("run `sysctl -w fs.inotify.max_user_instances=%d fs.inotify.max_user_watches=%d` as root",
		max(instances, enoughInotifyInstance), max(watches, enoughInotifyWatches))
	f.Detail = fmt.Sprintf("%d instances, %d watches", instances, watches)
	if err := try(); err != nil {
		f.Needed = true
		f.Detail += fmt.Sprintf(": all of them are taken (%v), so that no API server can start; %s", err, strings.Replace(remedy,
			fmt.Sprintf("instances=%d", max(instances, enoughInotifyInstance)), fmt.Sprintf("instances=%d", 2*max(instances, enoughInotifyInstance)), 1))
		return f
	}
	if f.OK = instances >= enoughInotifyInstance && watches >= enoughInotifyWatches; !f.OK {
		f.Detail += ": nodes of the kind provider want more; " + remedy
	}
	return f
}

// tryInotify makes an instance and gives it back.
func tryInotify() error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// number reads a file that holds one.
func number(file string) (int, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(raw)))
}
