package providers

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// BenchmarkReady is the time from nothing to three ready members of one release
// of Kubernetes, by each provider side by side in one run: the ratio
// is what says something, the times are the machine's.
func BenchmarkReady(b *testing.B) {
	for _, provider := range []string{"local", "kind"} {
		b.Run(provider, func(b *testing.B) {
			topology, err := cluster.LoadTopology("clusters/" + provider + "-3-kubernetes.yaml")
			if err != nil {
				b.Fatal(err)
			}
			// A folder of its own, so that no cluster of a user is touched.
			b.Setenv(state.RootVariable, b.TempDir())
			if _, err := All().Check(b.Context(), topology, nil); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				made, err := All().New(b.Context(), topology, cluster.Options{Owner: "bench"})
				if err != nil {
					b.Skip(err)
				}
				if err := made.Start(b.Context()); err != nil {
					b.Error(err)
				}
				b.StopTimer()
				if err := made.Stop(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
