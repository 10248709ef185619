package e2eframework

import "sigs.k8s.io/e2e-framework/support"

// WithTopology names the topology: a file, or one that ships with Evenkeel, such
// as clusters/local-3.yaml. Like every option here it has an effect on clusters
// of this package only.
func WithTopology(file string) support.ClusterOpts {
	return option(func(c *Cluster) { c.topology = file })
}

// WithLogDir names a folder for the components' logs, which outlive Destroy.
func WithLogDir(dir string) support.ClusterOpts {
	return option(func(c *Cluster) { c.logDir = dir })
}

// WithDefects plants defects of the distribution, by their IDs, so that a test
// can show that it finds them.
func WithDefects(ids ...string) support.ClusterOpts {
	return option(func(c *Cluster) { c.defects = append(c.defects, ids...) })
}

func option(set func(*Cluster)) support.ClusterOpts {
	return func(provider support.E2EClusterProvider) {
		if c, ok := provider.(*Cluster); ok {
			set(c)
		}
	}
}
