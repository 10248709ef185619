package local_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
)

// BenchmarkReady measures the time from New until every component of every
// member is ready, with the real reference control plane. The binary is the one
// that EVENKEEL_REFPLANE names, else it is built from source before the timer.
func BenchmarkReady(b *testing.B) {
	for _, members := range []int{1, 3, 5} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			b.Setenv("EVENKEEL_STATE", b.TempDir())
			topology, err := cluster.LoadTopology(fmt.Sprintf("clusters/local-%d.yaml", members))
			if err != nil {
				b.Fatal(err)
			}
			registry := cluster.Registry{local.Provider{}}
			if _, err := registry.Check(b.Context(), topology, nil); err != nil {
				b.Fatal(err)
			}
			var ready time.Duration
			b.ResetTimer()
			for range b.N {
				b.StartTimer()
				began := time.Now()
				c, err := registry.New(b.Context(), topology, cluster.Options{})
				if err != nil {
					b.Fatal(err)
				}
				startErr := c.Start(b.Context())
				ready += time.Since(began)
				b.StopTimer()
				if err := c.Stop(context.WithoutCancel(b.Context())); err != nil || startErr != nil {
					b.Fatal(startErr, err)
				}
			}
			b.ReportMetric(ready.Seconds()/float64(b.N), "s/ready")
		})
	}
}
