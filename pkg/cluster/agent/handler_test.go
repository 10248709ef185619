//go:build linux

package agent

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// served is an agent without rules in the packet filter that answers on its
// socket, and a client of it.
func served(t *testing.T, components ...Component) (*agent, *Client) {
	t.Helper()
	a := &agent{
		Config: Config{Member: "cp1", Manifests: t.TempDir(), Pods: t.TempDir(), Components: components},
		shared: t.TempDir(), watcher: running(t, components...), links: testLinks(),
	}
	// The service manager is told when the agent answers.
	ready := filepath.Join(t.TempDir(), "n")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: ready, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", ready)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the agent ended with %v", err)
		}
	})
	said := make([]byte, 64)
	if count, err := manager.Read(said); err != nil || string(said[:count]) != "READY=1" {
		t.Fatalf("the service manager was told %q, %v", said[:count], err)
	}
	return a, NewClient("cp1", a.shared)
}

// The kubelet has a folder for each container of a Pod until it is done with it.
func TestAPodWaitsUntilTheKubeletIsDoneWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{Config: Config{Manifests: t.TempDir(), Pods: t.TempDir()}}
		of := etcdOf("etcd")
		containers := filepath.Join(a.Pods, "uid", "containers")
		if err := os.MkdirAll(filepath.Join(containers, of.Pod), 0o755); err != nil {
			t.Fatal(err)
		}
		var cleared atomic.Bool
		go func() { a.awaitCleared(t.Context(), of); cleared.Store(true) }()
		time.Sleep(clearedBound / 2)
		synctest.Wait()
		if cleared.Load() {
			t.Error("it did not wait for what is left of the last one")
		}
		if err := os.RemoveAll(containers); err != nil {
			t.Fatal(err)
		}
		time.Sleep(clearedPoll)
		synctest.Wait()
		if !cleared.Load() {
			t.Error("it waits on when nothing is left")
		}
		// What is never put away holds nothing up for ever, and a change to a Pod that
		// is there waits for nothing.
		if err := os.MkdirAll(filepath.Join(containers, of.Pod), 0o755); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a.awaitCleared(t.Context(), of)
		if waited := time.Since(began); waited != clearedBound {
			t.Errorf("it waited %s, want %s", waited, clearedBound)
		}
		if err := os.WriteFile(a.manifest(of), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		a.awaitCleared(t.Context(), of)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("a change waited %s", waited)
		}
	})
}

func TestPods(t *testing.T) {
	a, client := served(t, etcdOf("etcd"))
	path := filepath.Join(a.Manifests, "etcd.yaml")
	if err := client.PutPod(t.Context(), cluster.Etcd, []byte("kind: Pod\n")); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "kind: Pod\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if raw, err := client.Manifest(t.Context(), cluster.Etcd); err != nil || string(raw) != "kind: Pod\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if left, _ := os.ReadDir(a.Manifests); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
	// A signal alone leaves it; an end takes it away, also where nothing runs.
	for range 2 {
		if reached, err := client.End(t.Context(), cluster.Etcd, syscall.SIGTERM, false); err != nil || len(reached) != 0 {
			t.Errorf("reached %v, %v", reached, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if _, err := client.End(t.Context(), cluster.Etcd, syscall.SIGTERM, true); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the manifest is there: %v", err)
		}
	}
	if _, err := client.Manifest(t.Context(), cluster.Etcd); err == nil || !strings.Contains(err.Error(), "the node of cp1: open ") {
		t.Errorf("error %v", err)
	}
}

func TestEventsAndSignals(t *testing.T) {
	path, program := programNamed(t, "etcd")
	a, client := served(t, etcdOf(program))
	if err := client.PutPod(t.Context(), cluster.Etcd, nil); err != nil {
		t.Fatal(err)
	}
	one := start(t, path)
	a.watcher.next(t, 0)
	// A client that connects later is sent all events.
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		told := make(chan Event)
		go func() {
			_ = client.Events(ctx, func(event Event) {
				select {
				case told <- event:
				case <-ctx.Done():
				}
			})
			close(told)
		}()
		came := <-told
		process := cluster.Process{PID: came.PID, StartTime: came.StartTime}
		if came.PID != one.Process.Pid || came.Gone {
			t.Fatalf("told %+v of process %d", came, one.Process.Pid)
		}
		checkSignals(t, client, process)
		waits, err := client.CPUWaits(t.Context())
		if err != nil || len(waits) != 1 || waits[0].Component != cluster.Etcd || waits[0].Process != process || len(waits[0].Threads) == 0 {
			t.Errorf("it waited for a CPU: %+v, %v", waits, err)
		}
		cancel()
		for range told { // until the stream has ended
			continue
		}
	}
	// While the stream is open an event comes as it happens.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := make(chan Event, 2)
	ended := make(chan error, 1)
	go func() { ended <- client.Events(ctx, func(event Event) { told <- event }) }()
	<-told
	if now := <-told; now != (Event{Now: true}) {
		t.Errorf("after what had happened before it is told %+v", now)
	}
	if _, err := client.End(t.Context(), cluster.Etcd, syscall.SIGKILL, true); err != nil {
		t.Fatal(err)
	}
	if went := <-told; !went.Gone || went.PID != one.Process.Pid {
		t.Errorf("told %+v", went)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a stream that was given up ended well")
	}
}

// checkSignals stops a process of etcd and has it go on.
func checkSignals(t *testing.T, client *Client, process cluster.Process) {
	t.Helper()
	for _, tc := range []struct {
		signal  syscall.Signal
		stopped bool
	}{{syscall.SIGSTOP, true}, {syscall.SIGCONT, false}} {
		if reached, err := client.End(t.Context(), cluster.Etcd, tc.signal, false); err != nil || !slices.Equal(reached, []cluster.Process{process}) {
			t.Errorf("reached %v, %v", reached, err)
		}
		eventually(t, tc.signal.String(), func() bool {
			is, err := client.Stopped(t.Context(), process)
			return err == nil && is == tc.stopped
		})
	}
	other := cluster.Process{PID: process.PID, StartTime: process.StartTime + 1}
	if _, err := client.Stopped(t.Context(), other); err == nil || !strings.Contains(err.Error(), "has exited") {
		t.Errorf("another process of that number: %v", err)
	}
}

func TestHealth(t *testing.T) {
	component := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer component.Close()
	scheduler := Component{Name: cluster.Scheduler, Program: "kube-scheduler", Pod: "kube-scheduler", Health: component.URL}
	_, client := served(t, etcdOf("etcd"), scheduler)
	if err := client.Health(t.Context(), cluster.Scheduler); err != nil {
		t.Error(err)
	}
	for _, tc := range []struct {
		component cluster.Component
		want      string
	}{
		{cluster.Etcd, "the node of cp1: the etcd is asked from outside whether it is ready"},
		{cluster.APIServer, "cp1 has no apiserver (not supported by this provider)"},
	} {
		if err := client.Health(t.Context(), tc.component); err == nil || err.Error() != tc.want {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
	component.Close()
	if err := client.Health(t.Context(), cluster.Scheduler); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v", err)
	}
}

func TestUnhealthy(t *testing.T) {
	component := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "leader election failed", http.StatusInternalServerError)
	}))
	defer component.Close()
	_, client := served(t, Component{Name: cluster.Scheduler, Health: component.URL})
	if err := client.Health(t.Context(), cluster.Scheduler); err == nil || err.Error() != "the node of cp1: leader election failed" {
		t.Errorf("error %v", err)
	}
}

func TestLinksOverTheSocket(t *testing.T) {
	filter := useFakeFilter(t)
	_, client := served(t)
	if err := client.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}); err != nil {
		t.Fatal(err)
	}
	filter.write("list", "      3     180 DROP  all\n")
	if stats, err := client.LinkStats(t.Context(), cluster.LinkNode); err != nil || stats.Withheld != 3 {
		t.Errorf("%+v, %v", stats, err)
	}
	if stats, err := client.LinkStats(t.Context(), cluster.LinkEtcd); err != nil || stats != (cluster.LinkStats{}) {
		t.Errorf("%+v, %v", stats, err)
	}
	err := client.SetLink(t.Context(), "moon", cluster.Shape{})
	if !errors.Is(err, cluster.ErrUnsupported) || err.Error() != `there is no link "moon" (not supported by this provider)` {
		t.Errorf("error %v", err)
	}
}

func TestAnAgentThatIsNotThere(t *testing.T) {
	client := NewClient("cp1", t.TempDir())
	if err := client.Events(t.Context(), func(Event) {}); err == nil || !strings.Contains(err.Error(), "the agent in the node of cp1 does not answer: ") {
		t.Errorf("error %v", err)
	}
	// One that stands still takes connections and says nothing.
	shared := t.TempDir()
	still, err := net.Listen("unix", filepath.Join(shared, SocketFile))
	if err != nil {
		t.Fatal(err)
	}
	defer still.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		connection, err := still.Accept()
		if err == nil {
			_, _ = bufio.NewReader(connection).ReadString('\n')
			cancel(errors.New("enough"))
		}
	}()
	if _, err := NewClient("cp1", shared).LinkStats(ctx, cluster.LinkNode); err == nil || err.Error() != "the agent in the node of cp1 does not answer: enough" {
		t.Errorf("error %v", err)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	a, _ := served(t, etcdOf("etcd"))
	for _, tc := range []struct {
		method, path, body string
		code               int
	}{
		{http.MethodPost, pathEnd, "{", http.StatusBadRequest},
		{http.MethodPost, pathEnd, `{"component": "moon"}`, http.StatusNotImplemented},
		{http.MethodPut, pathPod, `{"component": "moon"}`, http.StatusNotImplemented},
		{http.MethodGet, pathManifest + "?component=moon", "", http.StatusNotImplemented},
		{http.MethodGet, pathStopped + "?pid=x", "", http.StatusBadRequest},
		{http.MethodGet, "/moon", "", http.StatusNotFound},
		{http.MethodPut, pathEnd, "{}", http.StatusMethodNotAllowed},
	} {
		got := httptest.NewRecorder()
		a.handler().ServeHTTP(got, httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body)))
		if got.Code != tc.code {
			t.Errorf("%s %s: %d %s, want %d", tc.method, tc.path, got.Code, got.Body, tc.code)
		}
	}
}
