package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// DeleteMigration deletes a migration.
type DeleteMigration struct {
	// Member is the member to whose API server the step sends the request.
	Member    string `yaml:"member"`
	Migration string `yaml:"migration"`
}

var _ = register("deleteMigration", func() Action { return &DeleteMigration{} }, registry.Fields{"member": oneMember, "migration": registry.Known(namesMigration)}, cluster.ChangesControlPlane)

func (s *DeleteMigration) selectors() []string { return []string{s.Member} }

func (s *DeleteMigration) validate() error {
	return errors.Join(missing("member", s.Member), missing("migration", s.Migration))
}
func (s *DeleteMigration) name(n *names) error { return n.need("migration", s.Migration) }
func (s *DeleteMigration) lacking(r *Runner) string {
	return lacking("migration", s.Migration, r.migrated[s.Migration] != nil)
}

func (s *DeleteMigration) play(ctx context.Context, r *Runner, at target) error {
	return r.deleteMigration(ctx, at.one(), s)
}

// deleteMigration deletes a migration.
func (r *Runner) deleteMigration(ctx context.Context, member string, step *DeleteMigration) error {
	m := r.migrated[step.Migration]
	if m == nil {
		return fmt.Errorf("nothing was migrated under the name %s", step.Migration)
	}
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	version, err := migrationVersion(ctx, client)
	if err != nil {
		return err
	}
	call := observe.Call{Class: history.ClassMigration, Verb: "delete", Group: migrationGroup, Version: version, Resource: migrationResource, Name: m.object}
	for {
		answer := client.Do(ctx, call)
		if answer.OK() || m.missing(answer) {
			return nil
		}
		if waited := r.wait(ctx, observe.RetryInterval); waited != nil {
			return errors.Join(waited, refused(call, member, answer))
		}
	}
}
