package history

// KindEtcdCompaction is the kind of an [EtcdCompaction].
const KindEtcdCompaction Kind = "etcdCompaction"

// EtcdCompaction is that the harness had etcd forget its history up to a revision. Who lists in
// pieces, or watches, from a revision of before is refused from then on.
type EtcdCompaction struct {
	// Revision is the oldest one that can still be read.
	Revision int64 `json:"revision"`
}
