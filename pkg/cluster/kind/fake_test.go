//go:build linux

package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// fakeDocker is a docker on the PATH that is a shell script: it writes down what
// it is asked, and says what a file of the name of its first two words has.
type fakeDocker struct {
	t   *testing.T
	dir string
}

func useFakeDocker(t *testing.T) *fakeDocker {
	t.Helper()
	d := &fakeDocker{t: t, dir: t.TempDir()}
	const script = `#!/bin/sh
cd "${0%/*}"
echo "$*" >> asked
for name in "$1-$2" "$1"; do
	if [ -e "fail-$name" ]; then cat "fail-$name" >&2; exit 1; fi
	if [ -e "say-$name" ]; then cat "say-$name"; exit 0; fi
done
`
	d.write(engine, script, 0o700)
	t.Setenv("PATH", d.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return d
}

func (d *fakeDocker) write(name, content string, mode os.FileMode) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(content), mode); err != nil {
		d.t.Fatal(err)
	}
}

// says has the script print something for a command.
func (d *fakeDocker) says(command, what string) { d.write("say-"+command, what, privateMode) }

// fails has the script fail at a command; empty has it succeed again.
func (d *fakeDocker) fails(command, complaint string) {
	if complaint == "" {
		if err := os.RemoveAll(filepath.Join(d.dir, "fail-"+command)); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	d.write("fail-"+command, complaint, privateMode)
}

// asked are the commands so far, with what they begin with left out of those
// that only look.
func (d *fakeDocker) asked() []string {
	raw, err := os.ReadFile(filepath.Join(d.dir, "asked"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// fakeAgent answers in an agent's place, on the socket in a member's folder.
type fakeAgent struct {
	mu sync.Mutex
	// said is what it was asked, in a few words each.
	said   []string
	events chan agent.Event
	stats  cluster.LinkStats
}

func startAgent(t *testing.T, shared string) *fakeAgent {
	t.Helper()
	a := &fakeAgent{events: make(chan agent.Event)}
	if err := os.MkdirAll(shared, folderMode); err != nil {
		t.Fatal(err)
	}
	// A socket's path must be short.
	t.Chdir(shared)
	listener, err := net.Listen("unix", agent.SocketFile)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		for {
			select {
			case event := <-a.events:
				_ = json.NewEncoder(w).Encode(event)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Component cluster.Component
			Signal    int
			Away      bool
			Link      cluster.Link
			Shape     cluster.Shape
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case r.URL.Path == "/link" && r.Method == http.MethodGet:
			_ = json.NewEncoder(w).Encode(a.stats)
			return
		case r.URL.Path == "/link":
			a.said = append(a.said, fmt.Sprintf("link %s cut %v", asked.Link, asked.Shape.Cut))
		case r.URL.Path == "/end":
			a.said = append(a.said, fmt.Sprintf("end %s %d %v", asked.Component, asked.Signal, asked.Away))
		case r.URL.Path == "/pod":
			a.said = append(a.said, "pod "+string(asked.Component))
		case r.URL.Path == "/cleared":
			a.said = append(a.said, "cleared "+string(asked.Component))
		}
		_, _ = w.Write([]byte("{}"))
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: probeBound}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return a
}

// await waits until the agent was asked something, or an operation has ended before.
func (a *fakeAgent) await(t *testing.T, what string, ended <-chan error) {
	t.Helper()
	for {
		a.mu.Lock()
		said := slices.Contains(a.said, what)
		a.mu.Unlock()
		if said {
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended with %v before the agent was asked %q", err, what)
		case <-time.After(time.Millisecond):
		}
	}
}

// asked gives what the agent was asked, and forgets it.
func (a *fakeAgent) asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.said = nil }()
	return slices.Clone(a.said)
}

// fakeDistribution has two components that agents are asked about.
type fakeDistribution struct{ distribution }

func (fakeDistribution) components() []cluster.Component {
	return []cluster.Component{cluster.ControllerManager, cluster.Scheduler}
}

// fakeUncoordinated is a release that knows no coordination.
const fakeUncoordinated = "0.9"

func (fakeDistribution) lacks(_ cluster.Component, release string) []cluster.Feature {
	if release == fakeUncoordinated {
		return []cluster.Feature{cluster.FeatureCoordination}
	}
	return nil
}

func (fakeDistribution) serverID(member, _ string) string { return member }

func (fakeDistribution) shape(*kindCluster, *v1alpha4.Cluster) ([]kind.CreateOption, error) {
	return nil, nil
}

func (fakeDistribution) pod(_ *kindCluster, _ *member, component cluster.Component, release string) ([]byte, error) {
	return []byte(string(component) + " " + release), nil
}

func (fakeDistribution) awaitKubelet(context.Context, *kindCluster, *member, time.Time) error {
	return nil
}

func (fakeDistribution) supply(context.Context, *kindCluster, *member, string) error { return nil }

// newFakeCluster is a cluster of one member that was never made.
func newFakeCluster(t *testing.T, runs distribution, members int, observer cluster.Observer) *kindCluster {
	t.Helper()
	topology := &cluster.Topology{Spec: cluster.Spec{Release: "1.2"}}
	for i := range members {
		topology.Spec.Members = append(topology.Spec.Members, cluster.MemberSpec{Name: fmt.Sprintf("cp%d", i+1)})
	}
	owner, err := state.Self("test")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := state.Register(t.TempDir(), state.Record{ID: "c-1", Name: "c", Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(entry, runs, []string{"1.2", "1.3"}, topology, cluster.Options{Observer: observer, LogDir: t.TempDir()})
	for i, m := range c.members {
		m.address = fmt.Sprintf("10.0.0.%d", i+2)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with %q", err, want)
	}
}
