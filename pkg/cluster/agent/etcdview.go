//go:build linux

package agent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// registry is below which Kubernetes keeps its objects in etcd.
const registry = "/registry/"

// shownPrefixes are of the keys that leave the node as they are: what the requirements are
// about. Of Leases and their candidates those of the control plane's own namespace are.
var shownPrefixes = []string{
	registry + "storageversions/",
	registry + "storageversionmigrations/",
	registry + "leases/kube-system/",
	registry + "leasecandidates/kube-system/",
}

// ownDomain is the domain of the groups that the harness defines in an external cluster.
const ownDomain = ".evenkeel.dev"

// ownNames begin the names of the objects that the harness makes there, and of the namespaces.
const ownNames = "evenkeel-"

// ownPlace is the namespace of the agent itself, of which nothing is shown.
const ownPlace = "evenkeel-agent"

// definitionsPrefix is of the keys of CustomResourceDefinitions.
const definitionsPrefix = registry + "apiextensions.k8s.io/customresourcedefinitions/"

// secretsPart is in the keys of Secrets, whatever the prefix of all keys: API servers take another
// one by --etcd-prefix, as those of OpenShift do.
const secretsPart = "/secrets/"

// WithheldPrefix begins every key that stands for one that does not leave the node.
const WithheldPrefix = "/evenkeel-withheld/"

// shown is whether what lies under a key may leave the node.
func shown(key string) bool {
	for _, prefix := range shownPrefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	if name, ok := strings.CutPrefix(key, definitionsPrefix); ok {
		return strings.HasSuffix(name, ownDomain)
	}
	below, ok := strings.CutPrefix(key, registry)
	if !ok || strings.Contains(key, secretsPart) {
		return false
	}
	parts := strings.Split(below, "/")
	return len(parts) > 1 && !slices.Contains(parts[1:], ownPlace) && (strings.HasSuffix(parts[0], ownDomain) ||
		slices.ContainsFunc(parts[1:], func(part string) bool { return strings.HasPrefix(part, ownNames) }))
}

// etcdView is the node's etcd as the harness may see it, by etcd's own protocol: what may
// only be read, and most of that only as hashes. A call that is not here does not exist.
type etcdView struct {
	etcdserverpb.UnimplementedKVServer
	etcdserverpb.UnimplementedWatchServer
	etcdserverpb.UnimplementedMaintenanceServer
	etcdserverpb.UnimplementedClusterServer

	access EtcdAccess
	secure func(EtcdAccess) (*tls.Config, error)
	// salt is that of the installation: without it no hash can be compared with a guess.
	salt []byte

	mu     sync.Mutex
	client *clientv3.Client
}

func newEtcdView(access EtcdAccess, salt []byte) *etcdView {
	return &etcdView{access: access, secure: etcdTLS, salt: salt}
}

// etcdTLS reads the files each time a connection is made anew: etcd's keys are replaced now
// and then.
func etcdTLS(access EtcdAccess) (*tls.Config, error) {
	pool, err := authority(access.CA)
	if err != nil {
		return nil, err
	}
	pair, err := KeyFiles{Cert: access.Cert, Key: access.Key}.load()
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}

// register offers what there is of etcd.
func (v *etcdView) register(server *grpc.Server) {
	etcdserverpb.RegisterKVServer(server, v)
	etcdserverpb.RegisterWatchServer(server, v)
	etcdserverpb.RegisterMaintenanceServer(server, v)
	etcdserverpb.RegisterClusterServer(server, v)
}

// MemberList implements etcdserverpb.ClusterServer: how many members etcd has and which of
// them vote, without their names and addresses.
func (v *etcdView) MemberList(ctx context.Context, request *etcdserverpb.MemberListRequest) (*etcdserverpb.MemberListResponse, error) {
	to, err := v.upstream()
	if err != nil {
		return nil, err
	}
	response, err := etcdserverpb.NewClusterClient(to).MemberList(forwarded(ctx), request)
	if err != nil {
		return nil, err
	}
	for i, member := range response.Members {
		response.Members[i] = &etcdserverpb.Member{ID: member.ID, IsLearner: member.IsLearner}
	}
	return response, nil
}

// HashKV implements etcdserverpb.MaintenanceServer: one hash of all that the member's etcd holds,
// of which nothing can be guessed.
func (v *etcdView) HashKV(ctx context.Context, request *etcdserverpb.HashKVRequest) (*etcdserverpb.HashKVResponse, error) {
	to, err := v.upstream()
	if err != nil {
		return nil, err
	}
	return etcdserverpb.NewMaintenanceClient(to).HashKV(forwarded(ctx), request)
}

// Status implements etcdserverpb.MaintenanceServer: whether the member is whole.
func (v *etcdView) Status(ctx context.Context, request *etcdserverpb.StatusRequest) (*etcdserverpb.StatusResponse, error) {
	to, err := v.upstream()
	if err != nil {
		return nil, err
	}
	return etcdserverpb.NewMaintenanceClient(to).Status(forwarded(ctx), request)
}

// Alarm implements etcdserverpb.MaintenanceServer, of which only the reading of alarms is shown.
func (v *etcdView) Alarm(ctx context.Context, request *etcdserverpb.AlarmRequest) (*etcdserverpb.AlarmResponse, error) {
	if request.Action != etcdserverpb.AlarmRequest_GET {
		return nil, status.Error(codes.PermissionDenied, "the agent shows alarms, and changes none")
	}
	to, err := v.upstream()
	if err != nil {
		return nil, err
	}
	return etcdserverpb.NewMaintenanceClient(to).Alarm(forwarded(ctx), request)
}

func (v *etcdView) upstream() (*grpc.ClientConn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.client != nil {
		return v.client.ActiveConnection(), nil
	}
	secured, err := v.secure(v.access)
	if err != nil {
		return nil, status.Errorf(codes.Unavailable, "the agent cannot read etcd: %v", err)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{v.access.Endpoint}, TLS: secured, DialTimeout: dialBound, Logger: zap.NewNop(), MaxCallRecvMsgSize: largestAnswer,
	})
	if err != nil {
		return nil, status.Errorf(codes.Unavailable, "the agent cannot reach etcd: %v", err)
	}
	v.client = client
	return client.ActiveConnection(), nil
}

func (v *etcdView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.client != nil {
		_ = v.client.Close()
	}
}

// largestAnswer is the most that the agent takes of etcd at once.
const largestAnswer = 64 << 20

// forwarded is a context for etcd with what the caller demands of it: that there is a leader.
func forwarded(ctx context.Context) context.Context {
	in, _ := metadata.FromIncomingContext(ctx)
	if values := in.Get(rpctypes.MetadataRequireLeaderKey); len(values) > 0 {
		return metadata.AppendToOutgoingContext(ctx, rpctypes.MetadataRequireLeaderKey, values[0])
	}
	return ctx
}

// Range implements etcdserverpb.KVServer. An order by content would tell whether what is withheld
// is less than what a harness has written beside it.
func (v *etcdView) Range(ctx context.Context, request *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	if request.SortTarget == etcdserverpb.RangeRequest_VALUE {
		return nil, status.Error(codes.PermissionDenied, "the agent sorts nothing by its content")
	}
	to, err := v.upstream()
	if err != nil {
		return nil, err
	}
	response, err := etcdserverpb.NewKVClient(to).Range(forwarded(ctx), request)
	if err != nil {
		return nil, err
	}
	for i, kv := range response.Kvs {
		response.Kvs[i] = v.show(kv)
	}
	return response, nil
}

// Watch implements etcdserverpb.WatchServer: it hands on what is asked for, and what etcd
// tells, each in its order.
func (v *etcdView) Watch(harness grpc.BidiStreamingServer[etcdserverpb.WatchRequest, etcdserverpb.WatchResponse]) error {
	to, err := v.upstream()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(harness.Context())
	defer cancel()
	etcd, err := etcdserverpb.NewWatchClient(to).Watch(forwarded(ctx))
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.Go(func() error {
		defer cancel()
		for {
			request, err := harness.Recv()
			if err != nil {
				return errors.Join(etcd.CloseSend(), err)
			}
			if err := etcd.Send(request); err != nil {
				return err
			}
		}
	})
	group.Go(func() error {
		defer cancel()
		for {
			response, err := etcd.Recv()
			if err != nil {
				return err
			}
			for _, event := range response.Events {
				event.Kv, event.PrevKv = v.show(event.Kv), v.show(event.PrevKv)
			}
			if err := harness.Send(response); err != nil {
				return err
			}
		}
	})
	// The harness hears why the watch has ended only where etcd ended it.
	err = group.Wait()
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.Errorf(codes.Unavailable, "the watch has ended: %v", err)
}

// show is what leaves the node of what lies under a key: all of it; or hashes, the versions
// and the revisions. Of a Secret not even its content's hash leaves. No event is left out:
// etcd's client takes an answer without events for the promise that there were none.
func (v *etcdView) show(kv *mvccpb.KeyValue) *mvccpb.KeyValue {
	if kv == nil || shown(string(kv.Key)) {
		return kv
	}
	out := &mvccpb.KeyValue{CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version, Key: []byte(WithheldPrefix + v.hash(kv.Key))}
	if len(kv.Value) > 0 && !strings.Contains(string(kv.Key), secretsPart) {
		out.Value = []byte(v.hash(kv.Value))
	}
	return out
}

func (v *etcdView) hash(of []byte) string {
	keyed := hmac.New(sha256.New, v.salt)
	_, _ = keyed.Write(of) // a hash takes everything
	return hex.EncodeToString(keyed.Sum(nil))
}

// checkSalt refuses a salt by which hashes could be guessed.
func checkSalt(salt []byte) error {
	if len(salt) < saltLength {
		return fmt.Errorf("the salt of the installation is shorter than %d bytes: install the agent again", saltLength)
	}
	return nil
}

// saltLength is that of the salt of an installation.
const saltLength = 32
