package etcdproxy

import (
	"bytes"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// methods are the requests that are read, by their full names.
var methods = map[string]cluster.KeyRequest{
	"/etcdserverpb.KV/Range":       cluster.RequestRange,
	"/etcdserverpb.KV/Put":         cluster.RequestPut,
	"/etcdserverpb.KV/DeleteRange": cluster.RequestDelete,
	"/etcdserverpb.KV/Txn":         cluster.RequestTxn,
}

// span is the keys from one on and before another, as etcd has it: without an end
// it is a single key, and with an end of one zero byte all from the first on.
type span struct{ from, end []byte }

// spansOf are the keys that a request is about. What cannot be read is about none:
// etcd will say what is wrong with it.
func spansOf(request cluster.KeyRequest, payload []byte) []span {
	switch request {
	case cluster.RequestRange:
		return read(payload, &etcdserverpb.RangeRequest{}, ofRange)
	case cluster.RequestPut:
		return read(payload, &etcdserverpb.PutRequest{}, ofPut)
	case cluster.RequestDelete:
		return read(payload, &etcdserverpb.DeleteRangeRequest{}, ofDelete)
	case cluster.RequestTxn:
		return read(payload, &etcdserverpb.TxnRequest{}, ofTxn)
	}
	return nil
}

func read[T proto.Message](payload []byte, into T, spans func(T) []span) []span {
	if proto.Unmarshal(payload, into) != nil {
		return nil
	}
	return spans(into)
}

func ofRange(r *etcdserverpb.RangeRequest) []span {
	return []span{{r.GetKey(), r.GetRangeEnd()}}
}

func ofPut(r *etcdserverpb.PutRequest) []span { return []span{{from: r.GetKey()}} }

func ofDelete(r *etcdserverpb.DeleteRangeRequest) []span {
	return []span{{r.GetKey(), r.GetRangeEnd()}}
}

// ofTxn also counts the keys that are compared: a transaction that only looks at
// them is about them too.
func ofTxn(r *etcdserverpb.TxnRequest) []span {
	var spans []span
	for _, compare := range r.GetCompare() {
		spans = append(spans, span{compare.GetKey(), compare.GetRangeEnd()})
	}
	for _, op := range slices.Concat(r.GetSuccess(), r.GetFailure()) {
		switch {
		case op.GetRequestRange() != nil:
			spans = append(spans, ofRange(op.GetRequestRange())...)
		case op.GetRequestPut() != nil:
			spans = append(spans, ofPut(op.GetRequestPut())...)
		case op.GetRequestDeleteRange() != nil:
			spans = append(spans, ofDelete(op.GetRequestDeleteRange())...)
		case op.GetRequestTxn() != nil:
			spans = append(spans, ofTxn(op.GetRequestTxn())...)
		}
	}
	return spans
}

// meets is whether some key of the span can have the prefix.
func (s span) meets(prefix []byte) bool {
	switch {
	case bytes.HasPrefix(s.from, prefix):
		return true
	case len(s.end) == 0:
		return false
	case bytes.Compare(s.from, prefix) > 0:
		return false // it begins behind all keys with the prefix, or within them
	}
	return bytes.Equal(s.end, []byte{0}) || bytes.Compare(s.end, prefix) > 0
}
