package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/leak"
)

// secrets are the credentials of a run's cluster, as far as they could be learned.
type secrets struct {
	known []credential.Credential
	// missed says why there may be more.
	missed error
}

// learn adds the credentials that the cluster has created or was given by now.
func (s *secrets) learn(ctx context.Context, c cluster.Cluster) {
	bound := LearnTimeout
	if ctx.Err() != nil {
		bound = learnInterrupted
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	found, err := c.Credentials(ctx)
	s.known = credential.Merge(s.known, found...)
	s.missed = err
}

// unsearched returns an error if the bundle may hold credentials that it was not searched
// for. A credential that is too short to be told from other text is no error; the console
// names it.
func (r *running) unsearched() error {
	for _, one := range r.secrets.known {
		if !leak.Searchable(one) {
			fmt.Fprintf(r.options.Console, "The bundle was not searched for %s, which is too short for that.\n", one.What())
		}
	}
	if r.secrets.missed == nil {
		return nil
	}
	return fmt.Errorf("the bundle %s may hold credentials, because not all of them could be learned: %w", r.plan.out, r.secrets.missed)
}

// hush masks the credentials that the bundle holds. Components and hooks write logs, and no
// verdict follows from those, so hush masks them and the console says so. The harness itself
// has written all other files: a credential there is an error, because it is a bug of the
// harness and the mask destroys evidence.
func (r *running) hush(ctx context.Context) error {
	finds, err := leak.Sweep(ctx, r.plan.out, r.secrets.known)
	var logs, evidence []string
	for _, one := range finds {
		if one.Log() {
			logs = append(logs, one.String())
		} else {
			evidence = append(evidence, one.String())
		}
	}
	if len(logs) > 0 {
		fmt.Fprintf(r.options.Console, "Credentials were found in logs and are masked there: %s.\n", strings.Join(logs, "; "))
	}
	if len(evidence) > 0 {
		err = oneline.Join(fmt.Errorf("there is no verdict, since the bundle %s held credentials: %s; they are masked, which has damaged what was evidence, and that they got there is a bug of evenkeel: report it",
			r.plan.out, strings.Join(evidence, "; ")), err)
	}
	return err
}
