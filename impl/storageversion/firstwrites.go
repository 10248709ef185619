package storageversion

import (
	"sync/atomic"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// FirstWrites is the switch of the defect by which a server stores its first
// objects in another version than it announced. The codec by which objects of a
// multi-version resource are encoded for storage asks EncodeOlder once for each
// object and, if told so, encodes it in the resource's previous version, one
// that is decodable and is not the announced one. Without the defect the answer
// is always no.
type FirstWrites struct {
	left atomic.Int64
}

// NewFirstWrites returns the switch for one process.
func NewFirstWrites(d defects.Set) *FirstWrites {
	f := &FirstWrites{}
	if d.Has(defects.SV15FirstWriteOlder) {
		f.left.Store(olderWrites) // defect: SV-15-first-write-older
	}
	return f
}

// EncodeOlder reports whether the object about to be stored is to be encoded in
// the previous version.
func (f *FirstWrites) EncodeOlder() bool {
	return f.left.Load() > 0 && f.left.Add(-1) >= 0
}
