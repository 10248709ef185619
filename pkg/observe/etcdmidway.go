package observe

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// leasePrefix is that of all Leases.
const leasePrefix = registryPrefix + "leases/"

// RunLabel is the label of what a run creates in a cluster that is shared; its value is the
// name with which that begins.
const RunLabel = "evenkeel.dev/run"

// ownDomain ends the groups that the harness defines in a cluster that is shared.
const ownDomain = ".evenkeel.dev"

// definitionPrefix is that of CustomResourceDefinitions.
const definitionPrefix = registryPrefix + "apiextensions.k8s.io/customresourcedefinitions/"

// midwayPrefixes are of the keys that are recorded of an etcd that was there before the
// run: those of StorageVersions and migrations, of the candidates of the control plane, and of
// the Leases by which API servers take part. Of the other Leases those are recorded that a
// process on a member's host holds or held (RO-10), and that are coordinated; of all else what
// is the harness's own. What else lies there is its owner's, down to the names.
var midwayPrefixes = []string{
	registryPrefix + storageVersionResource + "/", registryPrefix + migrationResource + "/",
	registryPrefix + "leasecandidates/kube-system/", leasePrefix + "kube-system/apiserver-",
}

// beginPrefixes are of the keys among which those are that are told of as the recorder begins.
var beginPrefixes = []string{midwayPrefixes[0], midwayPrefixes[1], midwayPrefixes[2], leasePrefix}

// agentNamespace is where the harness's agent is installed, which is no part of a run.
const agentNamespace = "evenkeel-agent"

// OwnKey is whether a key is of an object of the harness, by its name or that of its namespace,
// or of a group that the harness defines. Secrets never are.
func OwnKey(key string) bool {
	below, found := strings.CutPrefix(key, registryPrefix)
	if !found || strings.HasPrefix(below, "secrets/") {
		return false
	}
	if name, ok := strings.CutPrefix(key, definitionPrefix); ok {
		return strings.HasSuffix(name, ownDomain)
	}
	parts := strings.Split(below, "/")
	if slices.Contains(parts, agentNamespace) {
		return false
	}
	return strings.HasSuffix(parts[0], ownDomain) || slices.ContainsFunc(parts[1:], func(part string) bool { return strings.HasPrefix(part, ownPrefixes[0]) })
}

// NewMidwayEtcd makes a recorder of an etcd that was there before the run. It records
// what lies under a few keys when it begins, as the changes that made it what it is, and
// from then on all changes of these; what came before those is never told.
func NewMidwayEtcd(members []string, config func(member string) (clientv3.Config, error), recorder Recorder, clk clock.WithTicker) *Etcd {
	r := NewEtcd(members, config, recorder, clk)
	r.kept = func(key string, value []byte) bool {
		if slices.ContainsFunc(midwayPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return true
		}
		if OwnKey(key) {
			return true
		}
		_, known := r.keys[key]
		return strings.HasPrefix(key, leasePrefix) && (known || r.heldByMember(value))
	}
	return r
}

// OnlyOwn has what is compared with the answers of API servers (Reads) be no more than what the
// run wrote itself, which begins with a name or is in the namespace of that name. It must be
// called before Run.
func (r *Etcd) OnlyOwn(name string) { r.own = name }

// KeepLeasesOf has a recorder of an etcd that was there before the run record the Leases
// that processes on these hosts hold, too. It must be called before Run.
func (r *Etcd) KeepLeasesOf(hosts []string) { r.hosts = hosts }

// heldByMember is whether the value is a Lease that a process on a member's host holds, or that a
// coordinator elects for. A kubelet's own Lease is none: it names the host and no process.
func (r *Etcd) heldByMember(value []byte) bool {
	if len(r.hosts) == 0 {
		return false
	}
	lease := decodeStored(value).lease
	if lease == nil {
		return false
	}
	if lease.Strategy != "" {
		return true // a coordinator elects for it
	}
	host := history.Host(lease.Holder)
	return host != lease.Holder && slices.Contains(r.hosts, host)
}

// begin records what lies there now; it is false if it cannot be read. All of it is read
// at one revision.
func (r *Etcd) begin(ctx context.Context, client *clientv3.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, EtcdSilence)
	defer cancel()
	var lying []*mvccpb.KeyValue
	var revision int64
	for _, prefix := range beginPrefixes {
		response, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(revision))
		if err != nil {
			return false
		}
		if revision == 0 {
			revision = response.Header.Revision
		}
		for _, kv := range response.Kvs {
			if r.kept(string(kv.Key), kv.Value) {
				lying = append(lying, kv)
			}
		}
	}
	slices.SortFunc(lying, func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.ModRevision, b.ModRevision) })
	for _, kv := range lying {
		stored := r.stored(&clientv3.Event{Type: clientv3.EventTypePut, Kv: kv})
		r.recorder.Record(history.Event{Kind: history.KindStored, Given: true, Stored: &stored})
	}
	r.next = revision + 1
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emitted = revision
	close(r.moved)
	r.moved = make(chan struct{})
	return true
}
