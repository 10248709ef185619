package example

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"

	"github.com/evenkeel/evenkeel/pkg/cluster/e2eframework"
)

const clusterName = "example"

var (
	testenv env.Environment
	plane   = e2eframework.NewCluster(clusterName)
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// Ctrl-C ends the waits of the tests, so that the cluster is taken down. A second
	// Ctrl-C ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	config, err := envconf.NewFromFlags()
	if err != nil {
		return complain("the flags are wrong", err)
	}
	if testenv, err = env.NewWithContext(ctx, config); err != nil {
		return complain("no environment for the tests could be made", err)
	}
	if out := os.Getenv("EVENKEEL_OUT"); out != "" {
		logs := filepath.Join(out, "example", "logs")
		if err := os.RemoveAll(logs); err != nil {
			return complain("the logs of an earlier run cannot be removed", err)
		}
		plane.WithOpts(e2eframework.WithLogDir(logs))
	}
	testenv.Setup(envfuncs.CreateClusterWithConfig(plane, clusterName, os.Getenv("EVENKEEL_TOPOLOGY")))
	testenv.Finish(envfuncs.DestroyCluster(clusterName))
	code := testenv.Run(m)
	// The environment does not report a cleanup that failed, and does not clean
	// up after a setup that failed. A second Destroy does nothing.
	if err := plane.Destroy(ctx); err != nil {
		return complain("the cluster is not gone, see `evenkeel cluster clean`", err)
	}
	return code
}

func complain(what string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	return 1
}
