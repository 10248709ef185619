package installed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/suites/internal/bringup"
)

const (
	// before and after store volumeattributesclasses as storage.k8s.io/v1beta1 and v1.
	before, after = "v1.35.4", "v1.36.3"

	localTopology = "clusters/local-3-kubernetes.yaml"
	// topologyVariable names another one.
	topologyVariable = "EVENKEEL_TOPOLOGY"

	// On a busy machine, planeBound is how long a test may take, and awaitBound how long any
	// condition may take.
	planeBound = 20 * time.Minute
	awaitBound = 3 * time.Minute
	awaitPoll  = 200 * time.Millisecond
)

// plane is a control plane, with the program that is installed in it.
type plane struct {
	cluster.Cluster
	t       *testing.T
	client  kubernetes.Interface
	program string
	// onNodes is whether members are nodes, whose kubelets play Pods.
	onNodes bool
}

// start brings a control plane up; change edits its topology. What is not built fails the test: it
// is played by name alone (`make migrate-install`), which wants the releases to be built.
func start(t *testing.T, file string, change func(*cluster.Topology)) *plane {
	t.Helper()
	topology, err := cluster.LoadTopology(file)
	if err != nil {
		t.Fatal(err)
	}
	change(topology)
	program, err := reference.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, made := bringup.Start(t, topology, "installed", planeBound, before, after)
	config, err := made.ClientConfig(made.Members()[0].Name, false)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, onNodes := made.(cluster.HostAddressProvider)
	return &plane{Cluster: made, t: t, client: client, program: program, onNodes: onNodes}
}

func root() string { return filepath.Join("..", "..") }

// topologyFile is the topology that the environment names, or else the local one.
func topologyFile() string {
	if named := os.Getenv(topologyVariable); named != "" {
		return filepath.Join(root(), named)
	}
	return filepath.Join(root(), localTopology)
}

// refplane runs the program as an administrator does, and returns its exit status.
func (p *plane) refplane(args ...string) (out string, status int) {
	p.t.Helper()
	kubeconfig := p.Cluster.(cluster.KubeconfigWriter).Kubeconfig()
	command := exec.CommandContext(p.t.Context(), p.program, append(args, "--kubeconfig="+kubeconfig)...)
	var both bytes.Buffer
	command.Stdout, command.Stderr = &both, &both
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return both.String(), command.ProcessState.ExitCode()
}

// must is refplane with exit status 0.
func (p *plane) must(args ...string) string {
	p.t.Helper()
	out, status := p.refplane(args...)
	if status != 0 {
		p.t.Fatalf("refplane %s: exit status %d: %s", strings.Join(args, " "), status, out)
	}
	p.t.Logf("refplane %s: %s", strings.Join(args, " "), strings.TrimSpace(out))
	return out
}

// await waits until a condition holds.
func (p *plane) await(what string, condition func(ctx context.Context) (bool, error)) {
	p.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(p.t.Context(), awaitPoll, awaitBound, true, func(ctx context.Context) (done bool, _ error) {
		done, last = condition(ctx)
		return done && last == nil, nil
	})
	if err != nil {
		p.t.Fatalf("%s: %v (%v)", what, err, last)
	}
}

// upgrade replaces all members, one after the other.
func (p *plane) upgrade(release string) {
	p.t.Helper()
	for _, m := range p.Members() {
		if err := p.StopMember(p.t.Context(), m.Name); err != nil {
			p.t.Fatal(err)
		}
		if err := p.StartMembers(p.t.Context(), map[string]string{m.Name: release}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// populate creates objects.
func (p *plane) populate(n int) {
	p.t.Helper()
	for i := range n {
		class := &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%04d", i)},
			DriverName: "ballast.evenkeel.dev", Parameters: map[string]string{"cargo": strconv.Itoa(i)}}
		if _, err := p.client.StorageV1().VolumeAttributesClasses().Create(p.t.Context(), class, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// stored are the objects in etcd.
type stored struct {
	// versions counts objects by the version in which they are stored, writes by the
	// number of their writes.
	versions map[string]int
	writes   map[int64]int
}

func (p *plane) stored() stored {
	p.t.Helper()
	config, err := p.EtcdConfig(p.Members()[0].Name)
	if err != nil {
		p.t.Fatal(err)
	}
	config.Context = p.t.Context()
	client, err := clientv3.New(config)
	if err != nil {
		p.t.Fatal(err)
	}
	defer client.Close()
	answer, err := client.Get(p.t.Context(), "/registry/volumeattributesclasses/", clientv3.WithPrefix())
	if err != nil {
		p.t.Fatal(err)
	}
	s := stored{versions: map[string]int{}, writes: map[int64]int{}}
	for _, kv := range answer.Kvs {
		raw, ok := bytes.CutPrefix(kv.Value, []byte("k8s\x00"))
		var envelope runtime.Unknown
		if err := envelope.Unmarshal(raw); !ok || err != nil {
			p.t.Fatalf("%s is not stored as protobuf: %v", kv.Key, err)
		}
		s.versions[envelope.APIVersion]++
		s.writes[kv.Version]++
	}
	return s
}

// updates returns how many updates of the objects all API servers have counted.
func (p *plane) updates() int {
	p.t.Helper()
	total := 0
	for _, m := range p.Members() {
		config, err := p.ClientConfig(m.Name, false)
		if err != nil {
			p.t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			p.t.Fatal(err)
		}
		text, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "apiserver_request_total{") || !strings.Contains(line, `resource="volumeattributesclasses"`) || !strings.Contains(line, `verb="PUT"`) {
				continue
			}
			fields := strings.Fields(line)
			n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				p.t.Fatal(err)
			}
			total += int(n)
		}
	}
	return total
}
