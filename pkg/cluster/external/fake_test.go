package external

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// secret is the credential of all kubeconfigs of the tests; nothing may tell it.
const secret = "the-very-secret-token"

// plane is a control plane of fake API servers. What they say lies in files, so that
// hooks can change it: <member>.start, <member>.version, <member>.down while no server
// answers, <member>.frozen while it leaves requests without an answer, and <kubeconfig>.moved with the member to which its address leads now.
type plane struct {
	t       *testing.T
	dir     string
	members []string
	counter map[string]*atomic.Int64
	deaf    atomic.Int64 // requests while a member was down
	removed sync.Map     // paths of what the remover removed
	changes *changes
	hooks   map[string]cluster.Hook
	// release of the topology, and those of its hooks.
	release  string
	releases []string
	// withheld is whether there is no leave to disrupt it.
	withheld bool
	etcd     bool
	address  string
	serverID string
	driver   string
	agent    cluster.Rung
	faults   *cluster.FaultEngine
}

func newPlane(t *testing.T, members ...string) *plane {
	t.Helper()
	p := &plane{t: t, dir: t.TempDir(), members: members, counter: map[string]*atomic.Int64{}, changes: &changes{}, hooks: map[string]cluster.Hook{}}
	for i, name := range members {
		p.counter[name] = &atomic.Int64{}
		p.counter[name].Store(int64(1000000 * (i + 1)))
		p.put(name+".start", fmt.Sprint(1700000000+i))
		p.put(name+".version", "v1.35.4")
		p.serve(name, name)
	}
	return p
}

// serve has a server say what the member says, under the name of a kubeconfig.
func (p *plane) serve(kubeconfig, member string) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, r, cmp.Or(p.read(kubeconfig+".moved"), member))
	}))
	p.t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: secret}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*config, filepath.Join(p.dir, kubeconfig+".kubeconfig")); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plane) answer(w http.ResponseWriter, r *http.Request, member string) {
	if p.bequeathed(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+secret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if p.there(member + ".down") {
		p.deaf.Add(1)
		panic(http.ErrAbortHandler) // the connection breaks
	}
	for ; p.there(member + ".frozen"); <-time.After(frozenLook) {
		if r.Context().Err() != nil {
			return
		}
	}
	switch r.URL.Path {
	case "/metrics":
		start := p.read(member + ".start")
		if start == "forbidden" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if both := strings.Split(start, " or "); len(both) > 1 {
			start = both[p.counter[member].Load()%int64(len(both))]
		}
		fmt.Fprintf(w, "# HELP go_memstats_mallocs_total x\ngo_memstats_mallocs_total %d\n", p.counter[member].Add(1))
		if start != "" {
			fmt.Fprintf(w, "process_start_time_seconds %s\n", start)
		}
	case "/version":
		fmt.Fprintf(w, `{"gitVersion": %q}`, p.read(member+".version"))
	case "/readyz", "/livez/ping":
		fmt.Fprint(w, "ok")
	case chaosmesh.APIPath:
		if !p.there("chaos-mesh") {
			w.WriteHeader(http.StatusNotFound)
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// removerSecret is the token that the fake API servers give the remover.
const removerSecret = "the-very-secret-token-of-the-remover"

// bequeathed answers what a bequest takes: its ServiceAccount, the token of that, and the removal of
// the owner, which is noted. It is false for other requests.
func (p *plane) bequeathed(w http.ResponseWriter, r *http.Request) bool {
	said := map[string]string{"metadata": "{}"}
	switch resource := path.Base(r.URL.Path); {
	case r.Method == http.MethodDelete && r.Header.Get("Authorization") == "Bearer "+removerSecret:
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			p.t.Error(err)
		}
		if !strings.Contains(string(raw), "All") { // which a dry run has
			p.removed.Store(r.URL.Path, true)
		}
		said["kind"], said["apiVersion"] = `"Status"`, `"v1"`
	case r.Method != http.MethodPost:
		return false
	case resource == "clusterrolebindings":
		said["kind"], said["apiVersion"] = `"ClusterRoleBinding"`, `"rbac.authorization.k8s.io/v1"`
	case resource == "serviceaccounts":
		said["kind"], said["apiVersion"] = `"ServiceAccount"`, `"v1"`
	case resource == "token":
		said["kind"], said["apiVersion"] = `"TokenRequest"`, `"authentication.k8s.io/v1"`
		said["status"] = fmt.Sprintf(`{"token": %q}`, removerSecret)
	default:
		return false
	}
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(said)) {
		fields = append(fields, fmt.Sprintf("%q: %s", key, said[key]))
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{%s}", strings.Join(fields, ", "))
	return true
}

// removals are the paths of what was removed by the remover.
func (p *plane) removals() (paths []string) {
	p.removed.Range(func(path, _ any) bool { paths = append(paths, path.(string)); return true })
	return paths
}

// frozenLook is the pause between two looks of a frozen server at whether it may go on.
const frozenLook = 5 * time.Millisecond

func (p *plane) there(file string) bool {
	_, err := os.Stat(filepath.Join(p.dir, file))
	return err == nil
}

func (p *plane) put(file, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, file), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plane) read(file string) string {
	raw, err := os.ReadFile(filepath.Join(p.dir, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// hook has a shell script run, in the folder of the files.
func (p *plane) hook(name, script string) *plane {
	p.hooks[name] = cluster.Hook{Command: []string{"/bin/sh", "-c", script}}
	return p
}

func (p *plane) topology() *cluster.Topology {
	topology := &cluster.Topology{
		APIVersion: cluster.APIVersion, Kind: cluster.TopologyKind, Metadata: cluster.Metadata{Name: "theirs"}, File: filepath.Join(p.dir, "theirs.yaml"),
		Spec: cluster.Spec{Provider: Name, Distribution: "kubernetes", Release: p.release, External: &cluster.External{Hooks: p.hooks, Releases: p.releases, Address: p.address}},
	}
	if p.driver == "talos" {
		topology.Spec.External.Talosctl = &cluster.Talosctl{Images: "registry.example.com/kubernetes"}
	}
	topology.Spec.External.Faults = p.faults
	if topology.Spec.External.Driver = p.driver; p.driver != "" && p.driver != "talos" {
		topology.Spec.External.SSH = &cluster.SSH{User: "admin", Port: 2222}
	}
	for _, name := range p.members {
		member := cluster.MemberSpec{Name: name, External: &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: name + ".kubeconfig"}, Host: "node-" + name, ServerID: p.serverID}}
		if p.agent != "" {
			member.External.Address = agentHost
			topology.Spec.External.Agent, topology.Spec.External.AgentImage = p.agent, "example/agent:v1"
		}
		if p.etcd {
			member.External.Etcd = &cluster.EtcdAccess{Endpoint: "http://127.0.0.1:1"}
		}
		topology.Spec.Members = append(topology.Spec.Members, member)
	}
	if err := topology.Validate(); err != nil {
		p.t.Fatal(err)
	}
	return topology
}

// made is the cluster, with leave to disrupt it unless withheld.
func (p *plane) made(withheld bool) (cluster.Cluster, error) {
	c, err := Provider{}.New(p.t.Context(), p.topology(), cluster.Options{
		LogDir: filepath.Join(p.dir, "logs"), Observer: p.changes.take, AllowDisruption: !withheld,
	})
	if err == nil {
		p.t.Cleanup(func() { _ = c.Stop(p.t.Context()) })
	}
	return c, err
}

// up is a cluster that is watched, and whose hooks have to show what they did soon.
func (p *plane) up() cluster.Cluster {
	p.t.Helper()
	c, err := p.made(false)
	if err == nil {
		c.(*external).bounds = bounds{effect: 2 * time.Second, silence: silenceBound}
		err = c.Start(p.t.Context())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// changes are what an observer was told.
type changes struct {
	mu   sync.Mutex
	told []string
	all  []cluster.Change
}

func (c *changes) take(change cluster.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	words := fmt.Sprintf("%s %s %d", change.Member, change.What, change.Instance)
	if change.Expected {
		words += " expected"
	}
	c.told, c.all = append(c.told, words), append(c.all, change)
}

func (c *changes) of(member string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.told), func(words string) bool { return !strings.HasPrefix(words, member+" ") })
}
