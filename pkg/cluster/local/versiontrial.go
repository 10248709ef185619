package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/ownhost"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
)

// TryVersions implements cluster.VersionTrier.
func (c *local) TryVersions(ctx context.Context, name, release string) (exit string, log []string, err error) {
	u, err := c.find(name, cluster.APIServer)
	if err != nil {
		return "", nil, err
	}
	if _, runs := u.process(); !runs {
		return "", nil, fmt.Errorf("cannot try versions at the %s: %w, and the program would take its place", u, errDown)
	}
	ctx, cancel := context.WithTimeout(ctx, trialBound)
	defer cancel()
	if exit, log, err = u.try(ctx, release); err != nil {
		err = fmt.Errorf("cannot try versions at the %s: %w", u, err)
	}
	return exit, log, err
}

// try runs the program of the unit beside the unit's own process.
func (u *unit) try(ctx context.Context, release string) (exit string, said []string, err error) {
	line, err := u.build(release)
	if err != nil {
		return "", nil, err
	}
	path := strings.TrimSuffix(u.logFile, ".log") + "-trial.log"
	log, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, privateMode)
	if err != nil {
		return "", nil, fmt.Errorf("cannot write its log: %w", err)
	}
	defer log.Close() // the process has its own descriptor
	cmd := exec.CommandContext(ctx, line.path, line.args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = log, log, u.dir, append(os.Environ(), u.env...)
	if line.host != "" {
		ownhost.Wrap(cmd, line.host)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	exit = exitText(cmd.Wait())
	if ctx.Err() != nil {
		exit = "" // the harness ended it
	}
	return exit, logtail.Lines(path), nil
}
