// Package bringup brings control planes up for the tests of suites.
package bringup

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
)

// stopBound is how long a control plane may take to stop.
const stopBound = 2 * time.Minute

// Start makes a cluster of a topology, starts it, and stops it when the test ends. Releases, if
// any, are prepared first. The context lasts as long as the cluster may be up: it outlives that of
// the test, which ends before the cluster is stopped.
func Start(t *testing.T, topology *cluster.Topology, name string, lasts time.Duration, releases ...string) (context.Context, cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), lasts)
	t.Cleanup(cancel)
	made, err := providers.All().New(ctx, topology, cluster.Options{Name: name, Owner: "test", LogDir: filepath.Join(t.TempDir(), "logs")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopBound)
		defer cancel()
		if err := made.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if preparer, ok := made.(cluster.ReleasePreparer); ok && len(releases) > 0 {
		if err := preparer.Prepare(ctx, releases); err != nil {
			t.Fatal(err)
		}
	}
	if err := made.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx, made
}
