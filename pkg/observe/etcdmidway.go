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

// midwayPrefixes are of the keys that are recorded of an etcd that was there before the
// run: those of StorageVersions, and of the Leases by which API servers take part. Of the
// other Leases those are recorded that a process on a member's host holds or held (RO-10).
// What else lies there is its owner's, down to the names.
var midwayPrefixes = []string{registryPrefix + storageVersionResource + "/", leasePrefix + "kube-system/apiserver-"}

// NewMidwayEtcd makes a recorder of an etcd that was there before the run. It records
// what lies under a few keys when it begins, as the changes that made it what it is, and
// from then on all changes of these; what came before those is never told.
func NewMidwayEtcd(members []string, config func(member string) (clientv3.Config, error), recorder Recorder, clk clock.WithTicker) *Etcd {
	r := NewEtcd(members, config, recorder, clk)
	r.kept = func(key string, value []byte) bool {
		if slices.ContainsFunc(midwayPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return true
		}
		_, known := r.keys[key]
		return strings.HasPrefix(key, leasePrefix) && (known || r.heldByMember(value))
	}
	return r
}

// KeepLeasesOf has a recorder of an etcd that was there before the run record the Leases
// that processes on these hosts hold, too. It must be called before Run.
func (r *Etcd) KeepLeasesOf(hosts []string) { r.hosts = hosts }

// heldByMember is whether the value is a Lease that a process on a member's host holds. A
// kubelet's own Lease is none: it names the host and no process.
func (r *Etcd) heldByMember(value []byte) bool {
	if len(r.hosts) == 0 {
		return false
	}
	lease := decodeStored(value).lease
	if lease == nil {
		return false
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
	for _, prefix := range []string{midwayPrefixes[0], leasePrefix} {
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
		r.recorder.Record(history.Event{Kind: history.KindStored, Stored: &stored})
	}
	r.next = revision + 1
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emitted = revision
	close(r.moved)
	r.moved = make(chan struct{})
	return true
}
