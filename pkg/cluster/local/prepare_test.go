package local

import (
	"context"
	"errors"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
)

// incomplete is a distribution of which one release lacks its API server.
type incomplete struct{ distribution }

func (d incomplete) command(component cluster.Component, s *site, release string) (command, error) {
	if component == cluster.APIServer && release == fakeplane.Next {
		return command{}, errors.New("its binary is not there: build it")
	}
	return d.distribution.command(component, s, release)
}

func TestPrepare(t *testing.T) {
	useFake(t)
	c := newCluster(t, 1, cluster.Options{})
	defer stopCluster(t, c)
	if err := c.Prepare(t.Context(), []string{fakeplane.Good, fakeplane.Next}); err != nil {
		t.Error(err)
	}
	expectError(t, c.Prepare(t.Context(), []string{"9"}), `there is no release "9"; there are: `)
	c.distribution = incomplete{c.distribution}
	if err := c.Prepare(t.Context(), []string{fakeplane.Good}); err != nil {
		t.Error(err)
	}
	expectError(t, c.Prepare(t.Context(), []string{fakeplane.Good, fakeplane.Next}),
		"release "+fakeplane.Next+" cannot be run: its binary is not there: build it")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Prepare(ended, []string{fakeplane.Good}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
