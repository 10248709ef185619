package e2eframework_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"

	"github.com/evenkeel/evenkeel/pkg/cluster/e2eframework"
)

// A TestMain brings three members up and removes them, also where the setup has failed,
// which envfuncs alone would forget.
func Example() {
	testMain := func(m *testing.M) int {
		testenv, plane := env.NewWithConfig(envconf.New()), e2eframework.NewCluster("mine")
		testenv.Setup(envfuncs.CreateClusterWithOpts(plane, "mine", e2eframework.WithTopology("clusters/local-3.yaml")))
		status := testenv.Run(m)
		if err := plane.Destroy(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return status
	}
	_ = testMain // os.Exit(testMain(m))
}
