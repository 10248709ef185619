package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/proto"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// ownKey is below no prefix that API servers use, so that no component reads it.
const ownKey = "evenkeel-defect/"

// plant gives the member its defects once it takes part. The channel tells of a failure, and
// of nothing where there is none to plant.
func (o Options) plant(ctx context.Context, server *etcdserver.EtcdServer) <-chan error {
	failed := make(chan error, 1)
	if !o.Defects.Has(defects.RO07OwnValue) {
		return failed
	}
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-server.ReadyNotify():
		}
		// defect: RO-07-own-value
		if err := keepOwnValue(ctx, server, o.Name); err != nil && ctx.Err() == nil {
			failed <- err
		}
	}()
	return failed
}

// keepOwnValue has all members agree on a value, and then writes another one to the same revision
// in the backend of this member, as a disk that returns other bytes would.
func keepOwnValue(ctx context.Context, server *etcdserver.EtcdServer, name string) error {
	key := []byte(ownKey + name)
	put, err := server.Put(ctx, &pb.PutRequest{Key: key, Value: []byte("agreed")})
	if err != nil {
		return fmt.Errorf("plant %s: %w", defects.RO07OwnValue, err)
	}
	at := put.Header.Revision
	value, err := proto.Marshal(&mvccpb.KeyValue{Key: key, Value: []byte("own"), CreateRevision: at, ModRevision: at, Version: 1})
	if err != nil {
		return err
	}
	batch := server.Backend().BatchTx()
	batch.LockOutsideApply()
	defer batch.Unlock()
	batch.UnsafePut(schema.Key, mvcc.RevToBytes(mvcc.Revision{Main: at}, mvcc.NewRevBytes()), value)
	return nil
}
