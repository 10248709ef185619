package providers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
)

// A topology is checked before anything starts: whether its provider exists, and has the
// releases. New returns the same errors.
func ExampleAll() {
	topology, err := cluster.ParseTopology("mine.yaml", []byte(`
apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: mine}
spec:
  provider: mainframe
  release: "1.2"
  members: [{name: cp1}, {name: cp2}, {name: cp3}]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = providers.All().Check(context.Background(), topology, nil)
	var unknown *cluster.UnknownProviderError
	if errors.As(err, &unknown) {
		fmt.Printf("there is no provider %s, but there is %s\n", unknown.Name, unknown.Known[0])
	}
	// Output:
	// there is no provider mainframe, but there is local
}
