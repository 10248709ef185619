package etcdproxy

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// frame is a message as it came, without its meaning.
type frame struct{ payload []byte }

// frames is the codec of frames: it changes nothing.
type frames struct{}

var _ encoding.CodecV2 = frames{}

// Marshal implements encoding.CodecV2.
func (frames) Marshal(v any) (mem.BufferSlice, error) {
	one, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("the proxy of etcd carries frames only, not a %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(one.payload)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (frames) Unmarshal(data mem.BufferSlice, v any) error {
	one, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("the proxy of etcd carries frames only, not a %T", v)
	}
	// The data is only lent.
	one.payload = data.Materialize()
	return nil
}

// Name implements encoding.CodecV2: what passes is what etcd and its clients
// speak.
func (frames) Name() string { return "proto" }
