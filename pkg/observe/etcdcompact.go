package observe

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Compact has etcd forget its history up to the last revision that is recorded, and returns that. It
// asks one member after the other, until one does it for all.
func (r *Etcd) Compact(ctx context.Context) (revision int64, err error) {
	if r.unread != "" {
		return 0, errors.New(r.unread)
	}
	r.mu.Lock()
	revision = r.emitted
	r.mu.Unlock()
	var errs []error
	for _, member := range r.members {
		client, err := r.client(member)
		if err == nil {
			bounded, cancel := context.WithTimeout(ctx, ReadTimeout)
			_, err = client.Compact(bounded, revision)
			cancel()
		}
		if err == nil || errors.Is(err, rpctypes.ErrCompacted) { // by a request whose answer was lost
			return revision, nil
		}
		errs = append(errs, fmt.Errorf("compact the etcd of %s up to revision %d: %w", member, revision, err))
	}
	return 0, errors.Join(errs...)
}
