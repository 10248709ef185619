package cluster_test

import (
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// A topology is read and checked before a provider makes a cluster of it. What is wrong
// with it is a TopologyError, with all problems at once.
func ExampleParseTopology() {
	_, err := cluster.ParseTopology("mine.yaml", []byte(`
apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: mine}
spec:
  provider: local
  members: [{name: cp1}, {name: cp1}]
`))
	var wrong *cluster.TopologyError
	if errors.As(err, &wrong) {
		for _, problem := range wrong.Problems {
			fmt.Println(problem)
		}
	}
	// Output:
	// spec.members[0] has no release: set one, or spec.release, or external for a member of a cluster that is there already
	// spec.members[1].name "cp1" is used twice
	// spec.members[1] has no release: set one, or spec.release, or external for a member of a cluster that is there already
}

// loadBalanced is a cluster with a load balancer, of which nothing else matters here.
type loadBalanced struct{ cluster.LoadBalanced }

// What only some clusters can do is found by a type assertion, and never by the name of
// their provider.
func ExampleLoadBalanced() {
	var c any = loadBalanced{}
	if _, ok := c.(cluster.LoadBalanced); ok {
		fmt.Println("its API servers are reached through a load balancer too")
	}
	if _, ok := c.(cluster.NodeUpgrader); !ok {
		fmt.Println("its members are stopped and started at another release")
	}
	// Output:
	// its API servers are reached through a load balancer too
	// its members are stopped and started at another release
}
