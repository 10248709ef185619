package main

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// together runs a function so many times at once, until all are done or one
// fails.
func together(ctx context.Context, count int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range count {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}
