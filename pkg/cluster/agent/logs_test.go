//go:build linux

package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestUnframed(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"2026-11-20T18:00:00.1Z stderr F I1120 a line\n", "I1120 a line\n"},
		{"2026-11-20T18:00:00.1Z stdout F \n", "\n"},
		{"2026-11-20T18:00:00.1Z stdout P half of\n", "half of"},
		{"no frame at all\n", "no frame at all\n"},
		{"of four words only\n", "of four words only\n"},
	} {
		if got := unframed(tc.line); got != tc.want {
			t.Errorf("unframed(%q) = %q, want %q", tc.line, got, tc.want)
		}
	}
}

// keeping is a log keeper that runs, and a function that ends it.
type keeping struct {
	t        *testing.T
	from, to string
	end      func()
}

func keepLogs(t *testing.T) *keeping {
	t.Helper()
	k := &keeping{t: t, from: t.TempDir(), to: t.TempDir()}
	k.begin()
	return k
}

// begin starts a keeper, after the one before was ended.
func (k *keeping) begin() {
	keeper := newLogKeeper(k.from, k.to, Config{Member: "cp1", Components: []Component{etcdOf("etcd")}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { keeper.run(ctx); close(ended) }()
	k.end = func() { cancel(); <-ended }
	k.t.Cleanup(k.end)
}

// log opens a container's log as the container runtime does.
func (k *keeping) log(pod, name string) *os.File {
	k.t.Helper()
	path := filepath.Join(k.from, "kube-system_etcd-node_"+pod, "etcd", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		k.t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = file.Close() })
	return file
}

func (k *keeping) say(file *os.File, text string) {
	k.t.Helper()
	if _, err := file.WriteString(text); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keeping) kept() string {
	raw, _ := os.ReadFile(filepath.Join(k.to, "cp1-"+string(cluster.Etcd)+".log"))
	return string(raw)
}

// await waits until the log of the component ends with something.
func (k *keeping) await(end string) {
	k.t.Helper()
	eventually(k.t, end, func() bool { return strings.HasSuffix(k.kept(), end) })
}

// lines counts the lines that tests wrote, each a moment after the one before.
var lines atomic.Int64

// framed is a line, or what there is of one, as the container runtime writes it.
func framed(text string) string {
	when := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC).Add(time.Duration(lines.Add(1)) * time.Microsecond)
	return when.Format(time.RFC3339Nano) + " stderr F " + text
}

func TestLogsAreFollowed(t *testing.T) {
	k := keepLogs(t)
	first := k.log("1", "0.log")
	k.say(first, framed("one\n")+framed("two\n"))
	k.await("one\ntwo\n")
	k.say(first, framed("thr"))
	again := k.log("1", "1.log") // the container was started again
	k.say(again, framed("four\n"))
	k.await("two\nfour\n")
	k.say(first, "ee\n")
	k.await("four\nthree\n")
	if got := k.kept(); got != "one\ntwo\nfour\nthree\n" {
		t.Errorf("kept %q", got)
	}
}

func TestLogsAreKeptToTheirEnd(t *testing.T) {
	k := keepLogs(t)
	log := k.log("1", "0.log")
	k.say(log, framed("one\n"))
	k.await("one\n")
	// The Pod goes while its container still writes, and is cut off in a line.
	if err := os.RemoveAll(filepath.Dir(log.Name())); err != nil {
		t.Fatal(err)
	}
	k.say(log, framed("two\n")+framed("thr"))
	k.await("one\ntwo\nthr\n")
}

func TestLogsAreKeptWhenTheAgentEnds(t *testing.T) {
	k := keepLogs(t)
	log := k.log("1", "0.log")
	k.say(log, framed("one\n"))
	k.await("one\n")
	k.say(log, framed("two\n"))
	k.end()
	if got := k.kept(); got != "one\ntwo\n" {
		t.Errorf("kept %q", got)
	}
}

func TestALogThatTakesThePlaceOfAnotherIsFollowed(t *testing.T) {
	k := keepLogs(t)
	log := k.log("1", "0.log")
	k.say(log, framed("one\n"))
	k.await("one\n")
	if err := os.Rename(log.Name(), log.Name()+".20261120-180000"); err != nil {
		t.Fatal(err)
	}
	// The runtime opens the new one a moment later.
	k.say(log, framed("two\n"))
	fresh := k.log("1", "0.log")
	k.say(fresh, framed("three\n"))
	eventually(t, "both", func() bool {
		got := k.kept()
		return strings.Contains(got, "two\n") && strings.Contains(got, "three\n")
	})
	k.say(fresh, framed("four\n"))
	k.await("four\n")
	if got := k.kept(); len(got) != len("one\ntwo\nthree\nfour\n") {
		t.Errorf("kept %q", got)
	}
}

func TestLogsFromBeforeAPowerCutAreNotKeptTwice(t *testing.T) {
	k := keepLogs(t)
	log := k.log("1", "0.log")
	k.say(log, framed("one\n")+framed("two\n"))
	k.await("two\n")
	k.end()
	k.say(log, framed("three\n"))
	k.begin()
	k.await("three\n")
	again := k.log("1", "1.log")
	k.say(again, framed("four\n"))
	k.await("four\n")
	if got := k.kept(); got != "one\ntwo\nthree\nfour\n" {
		t.Errorf("kept %q", got)
	}
}
