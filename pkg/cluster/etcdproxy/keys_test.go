package etcdproxy

import (
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestSpansMeetPrefixes(t *testing.T) {
	const prefix = "/registry/sv/"
	for _, tc := range []struct {
		name      string
		from, end string
		want      bool
	}{
		{"a key below it", prefix + "a", "", true},
		{"another key", "/registry/leases/a", "", false},
		{"the whole prefix", prefix, "/registry/sv0", true},
		{"a range within it", prefix + "a", prefix + "b", true},
		{"a range around it", "/registry/", "/registry0", true},
		{"a range that ends before it", "/registry/leases/", prefix, false},
		{"a range that begins behind it", "/registry/sw/", "/registry/sx/", false},
		{"everything from a key before it on", "/a", "\x00", true},
		{"everything from a key behind it on", "/z", "\x00", false},
		{"a key that the prefix begins with", "/registry/", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (span{[]byte(tc.from), []byte(tc.end)}).meets([]byte(prefix)); got != tc.want {
				t.Errorf("meets: %v", got)
			}
		})
	}
}

func TestKeysOfRequests(t *testing.T) {
	key := []byte("/k")
	put := &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{RequestPut: &etcdserverpb.PutRequest{Key: key}}}
	for _, tc := range []struct {
		name    string
		request cluster.KeyRequest
		message proto.Message
	}{
		{"range", cluster.RequestRange, &etcdserverpb.RangeRequest{Key: key}},
		{"put", cluster.RequestPut, &etcdserverpb.PutRequest{Key: key}},
		{"delete", cluster.RequestDelete, &etcdserverpb.DeleteRangeRequest{Key: key}},
		{"a transaction that compares", cluster.RequestTxn, &etcdserverpb.TxnRequest{Compare: []*etcdserverpb.Compare{{Key: key}}}},
		{"a transaction that puts", cluster.RequestTxn, &etcdserverpb.TxnRequest{Success: []*etcdserverpb.RequestOp{put}}},
		{"a transaction that puts if not", cluster.RequestTxn, &etcdserverpb.TxnRequest{Failure: []*etcdserverpb.RequestOp{put}}},
		{"a transaction in one", cluster.RequestTxn, &etcdserverpb.TxnRequest{Success: []*etcdserverpb.RequestOp{{
			Request: &etcdserverpb.RequestOp_RequestTxn{RequestTxn: &etcdserverpb.TxnRequest{Success: []*etcdserverpb.RequestOp{put}}}}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			payload, err := proto.Marshal(tc.message)
			if err != nil {
				t.Fatal(err)
			}
			if !meetAny(spansOf(tc.request, payload), []string{"/k"}) || meetAny(spansOf(tc.request, payload), []string{"/other"}) {
				t.Errorf("keys %q", spansOf(tc.request, payload))
			}
		})
	}
	if got := spansOf(cluster.RequestTxn, []byte{0xff}); got != nil {
		t.Errorf("rubbish is about %q", got)
	}
}
