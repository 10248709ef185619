package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// fakeCluster remembers what it was asked to do.
type fakeCluster struct {
	cluster.Cluster // nil: whatever a test does not expect panics

	mu       sync.Mutex
	calls    []string
	releases map[string]string
	process  map[string]cluster.Process
	fail     map[string]error
	off      []string // members without power
}

func newFake() *fakeCluster {
	return &fakeCluster{
		releases: map[string]string{"cp1": "1.2", "cp2": "1.2", "cp3": "1.2"},
		process:  map[string]cluster.Process{},
		fail:     map[string]error{},
	}
}

func (f *fakeCluster) did(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := fmt.Sprintf(format, args...)
	f.calls = append(f.calls, call)
	return f.fail[call]
}

func (f *fakeCluster) Members() []cluster.Member {
	var members []cluster.Member
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		members = append(members, cluster.Member{Name: name, Host: "host-" + name, ServerID: "id-" + name, Components: []cluster.Component{cluster.Etcd, cluster.APIServer}})
	}
	return members
}

func (f *fakeCluster) Releases() []string { return []string{"1.1", "1.2", "1.3"} }

func (f *fakeCluster) Release(member string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.releases[member]
}

func (f *fakeCluster) Start(context.Context) error { return f.did("start") }

func (f *fakeCluster) StopMember(_ context.Context, member string) error {
	return f.did("stop %s", member)
}

func (f *fakeCluster) StartMembers(_ context.Context, releases map[string]string) error {
	call := "start"
	f.mu.Lock()
	for _, member := range slices.Sorted(maps.Keys(releases)) {
		f.releases[member] = releases[member]
		call += " " + member + " " + releases[member]
	}
	f.mu.Unlock()
	return f.did("%s", call)
}

func (f *fakeCluster) StartComponent(_ context.Context, member string, component cluster.Component) error {
	f.mu.Lock()
	f.process[member] = cluster.Process{PID: f.process[member].PID + 1, StartTime: 8}
	f.mu.Unlock()
	return f.did("start %s %s", member, component)
}

func (f *fakeCluster) StopComponent(_ context.Context, member string, component cluster.Component) error {
	return f.did("stop %s %s", member, component)
}

func (f *fakeCluster) Kill(_ context.Context, member string, component cluster.Component) error {
	f.mu.Lock()
	delete(f.process, member)
	f.mu.Unlock()
	return f.did("kill %s %s", member, component)
}

func (f *fakeCluster) PowerOff(_ context.Context, member string) error {
	f.mu.Lock()
	f.off = append(f.off, member)
	f.mu.Unlock()
	return f.did("off %s", member)
}

func (f *fakeCluster) PowerOn(_ context.Context, member string) error {
	f.mu.Lock()
	f.process[member] = cluster.Process{PID: f.process[member].PID + 1, StartTime: 8}
	f.off = slices.DeleteFunc(f.off, func(m string) bool { return m == member })
	f.mu.Unlock()
	return f.did("on %s", member)
}

func (f *fakeCluster) Process(member string, _ cluster.Component) (cluster.Process, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.process[member]
	return p, ok && !slices.Contains(f.off, member)
}

func (f *fakeCluster) SetLink(_ context.Context, member string, link cluster.Link, shape cluster.Shape) error {
	return f.did("link %s %s %s", member, link, shape.Latency)
}

func (f *fakeCluster) LogDir() string { return "/home/jane/bundle/logs" }

func (f *fakeCluster) Credentials(context.Context) ([]credential.Credential, error) { return nil, nil }

func (f *fakeCluster) LinkStats(string, cluster.Link) (cluster.LinkStats, error) {
	return cluster.LinkStats{}, nil
}

func (f *fakeCluster) ClientConfig(string, bool) (*rest.Config, error) {
	return nil, errors.New("a fake has no API server")
}

func (f *fakeCluster) EtcdConfig(string) (clientv3.Config, error) {
	return clientv3.Config{}, errors.New("a fake has no etcd")
}

// fakeHistory keeps the events in memory.
type fakeHistory struct {
	mu     sync.Mutex
	events []history.Event
	failed chan struct{}
}

func newHistory() *fakeHistory { return &fakeHistory{failed: make(chan struct{})} }

func (h *fakeHistory) Now() int64 { return 0 }

func (h *fakeHistory) Record(e history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *fakeHistory) Failed() <-chan struct{} { return h.failed }

func (h *fakeHistory) Err() error { return errors.New("the disk is full") }

// told sums up the recorded steps and faults.
func (h *fakeHistory) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var told []string
	for _, e := range h.events {
		switch {
		case e.Step != nil:
			told = append(told, fmt.Sprintf("%d %s %s %s%s", e.Step.Index, e.Step.Action, e.Step.Phase, e.Member, e.Step.Release))
		case e.Fault != nil:
			told = append(told, fmt.Sprintf("%s %s %s", e.Fault.ID, e.Fault.Phase, e.Member))
		}
	}
	return told
}
