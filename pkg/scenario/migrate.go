package scenario

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Migrate creates a StorageVersionMigration, and sends requests for it that the API server
// must refuse.
type Migrate struct {
	// Name is the name by which later steps refer to the migration.
	Name string `yaml:"name"`
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// Population is a Populate whose resource is to be migrated. Give either the
	// population, or the group and the resource.
	Population string `yaml:"population,omitempty"`
	Group      string `yaml:"group,omitempty"`
	Resource   string `yaml:"resource,omitempty"`
	// Wait is whether the step waits until the migration has ended.
	Wait bool `yaml:"wait,omitempty"`
	// Until is a share such as 50%: the step waits until this share of the objects is
	// migrated.
	Until string `yaml:"until,omitempty"`
}

var _ = register("migrate", func() Action { return &Migrate{} }, registry.Fields{
	"name":       registry.Names(namesMigration),
	"member":     oneMember,
	"population": registry.Known(namesPopulation).In("population"),
	"group":      registry.AnyText("nowhere.evenkeel.dev").In("resource").Maybe(),
	"resource":   registry.AnyText("phantoms", "secrets", "configmaps").In("resource"),
	"wait":       registry.Flag(),
	"until":      untilShare,
}, cluster.ChangesControlPlane)

func (m *Migrate) selectors() []string { return []string{m.Member} }

func (m *Migrate) name(n *names) error {
	return errors.Join(n.need("population", m.Population), n.make("migration", m.Name))
}
func (m *Migrate) lacking(r *Runner) string {
	return lacking("population", m.Population, r.populations[m.Population] != nil)
}

func (m *Migrate) play(ctx context.Context, r *Runner, at target) error {
	return r.migrate(ctx, at.one(), m)
}

func (m *Migrate) validate() error {
	return errors.Join(missing("name", m.Name), missing("member", m.Member), m.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (m *Migrate) fieldsProblem() error {
	var err error
	if (m.Population == "") == (m.Resource == "") || m.Population != "" && m.Group != "" {
		err = errors.New("needs either population, or resource with its group")
	}
	if m.Until != "" {
		_, wrong := share(m.Until)
		err = errors.Join(err, wrong)
		if m.Wait {
			err = errors.Join(err, errors.New("wait and until exclude each other"))
		}
	}
	return err
}
