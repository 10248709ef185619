package scenario

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// AwaitMigrations waits until migrations have succeeded or failed.
type AwaitMigrations struct {
	Migrations []string `yaml:"migrations"`
	// Until is a share such as 50%. The step waits only until this share of the objects
	// is migrated that were not in the target version when a step first waited for the
	// migration.
	Until string `yaml:"until,omitempty"`
	// Timeout is how long the step may take, if that is longer than the default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

var _ = register("awaitMigrations", func() Action { return &AwaitMigrations{} }, registry.Fields{
	"migrations": registry.Known(namesMigration).List(1, 4),
	"until":      untilShare,
	"timeout":    registry.Between(MigrationTimeout, longestTimeout),
}, cluster.ChangesControlPlane)

func (a *AwaitMigrations) name(n *names) error { return n.need("migration", a.Migrations...) }

func (a *AwaitMigrations) within(*Runner, int) time.Duration {
	if a.Timeout > 0 {
		return a.Timeout + MigrationSlack
	}
	return 0
}

func (a *AwaitMigrations) lacking(r *Runner) string {
	for _, name := range a.Migrations {
		if why := lacking("migration", name, r.migrated[name] != nil); why != "" {
			return why
		}
	}
	return ""
}

func (a *AwaitMigrations) play(ctx context.Context, r *Runner, _ target) error {
	return r.awaitEach(ctx, a)
}

func (a *AwaitMigrations) validate() error {
	return errors.Join(missing("migrations", strings.Join(a.Migrations, "")), a.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (a *AwaitMigrations) fieldsProblem() error {
	var err error
	if a.Until != "" {
		if _, err = share(a.Until); len(a.Migrations) > 1 {
			err = errors.Join(err, errors.New("until is of one migration"))
		}
	}
	if a.Timeout < 0 {
		err = errors.Join(err, errors.New("timeout must not be negative"))
	}
	return err
}
