// Package run is the main job from end to end: it brings a control plane up,
// plays a scenario, records, judges what was recorded, and leaves a bundle.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// What a run uses where nothing else is asked for.
const (
	DefaultTopology = clusters.Default
	DefaultScenario = "fixtures/scenarios/upgrade-rollback-crash.yaml"
	// DefaultOut is the folder below which bundles are left.
	DefaultOut = "_out"
)

// Bounds of a run.
const (
	// StopTimeout is how long the end of a run may take to bring the control
	// plane down, after an interrupt too.
	StopTimeout = 10 * time.Second
	// LearnTimeout is how long the cluster may take, before it is taken down, to tell of
	// its credentials; learnInterrupted is so after an interrupt.
	LearnTimeout     = time.Minute
	learnInterrupted = 3 * time.Second
)

// Options of a run. The zero value is the main job.
type Options struct {
	// Topology and Scenario are files, or the paths of those that ship with
	// Evenkeel. With no Scenario the main one is played, or, where Focus or
	// Defect ask for less, the cheapest one that can judge it.
	Topology, Scenario string
	// Release that all members begin at; empty means what the topology or the
	// scenario says.
	Release string
	// Profiles that are claimed; none means all.
	Profiles []string
	// Focus is a regular expression on requirement IDs. Only those that it matches can
	// pass; a breach of any other requirement is reported too.
	Focus string
	// Seed of all randomness; with 0 the run chooses a seed and prints it.
	Seed int64
	// Out is the bundle's folder; with an empty Out the run creates one below DefaultOut.
	Out string
	// Defect to plant, by ID, or several with commas between; reference only.
	Defect string
	// Strict counts documented deviations of the distribution as failures.
	Strict bool
	// NoTraffic leaves out the scenario's traffic and the probes of booting
	// servers, so that whatever needs writes stays inconclusive.
	NoTraffic bool
	// MetricsAddr is where metrics are served while the run goes on, such as
	// 127.0.0.1:9099; empty means nowhere.
	MetricsAddr string
	// AllowDisruption allows the run to disrupt an external cluster. The other providers
	// do not need it.
	AllowDisruption bool
	// Harness is the version of this evenkeel, for the record.
	Harness string
	// Console gets the output for the user.
	Console io.Writer
	// Providers that the topology may name.
	Providers cluster.Registry
}

// plan is what Options come to.
type plan struct {
	provider     cluster.Provider
	defects      []string
	topology     *cluster.Topology
	topologyYAML []byte
	scenario     *scenario.Scenario
	scenarioYAML []byte
	profiles     []requirement.Profile
	// asked are the requirements that are to pass, and requirements those of them that
	// the scenario lists.
	asked, requirements []requirement.Requirement
	seed                int64
	id                  string
	out                 string
}

// prepare reads and checks everything that can be checked before anything runs.
func prepare(ctx context.Context, o Options, now time.Time) (*plan, error) {
	p := &plan{seed: o.Seed, out: o.Out}
	if p.seed == 0 {
		p.seed = rand.Int64()
	}
	if o.Defect != "" {
		p.defects = strings.Split(o.Defect, ",")
	}
	err := p.loadTopology(o.Topology, o.Release)
	if err != nil {
		return nil, err
	}
	if p.provider, err = o.Providers.Check(ctx, p.topology, p.defects); err != nil {
		return nil, err
	}
	focus, err := p.selectRequirements(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := p.selectScenario(o.Scenario, focus); err != nil {
		return nil, err
	}
	if len(o.Profiles) == 0 && focus == "" {
		if err := p.claim(); err != nil {
			return nil, err
		}
	}
	if err := p.narrow(); err != nil {
		return nil, err
	}
	if err := p.fitTopology(ctx, o); err != nil {
		return nil, err
	}
	if err := p.name(now); err != nil {
		return nil, err
	}
	if p.out == "" {
		p.out = filepath.Join(DefaultOut, p.id)
	}
	return p, nil
}

// selectRequirements sets the profiles and the requirements that are to pass: those of the
// profiles that the focus matches. Without a focus, a defect has its own requirement judged.
func (p *plan) selectRequirements(ctx context.Context, o Options) (focus string, err error) {
	if p.profiles, err = requirement.LookupProfiles(o.Profiles); err != nil {
		return "", err
	}
	focus = o.Focus
	if focus == "" && o.Defect != "" {
		if focus, err = p.focusOfDefects(ctx); err != nil {
			return "", err
		}
	}
	if p.asked, err = requirement.Select(p.profiles, focus); err != nil {
		if o.Focus == "" && o.Defect != "" {
			return "", fmt.Errorf("the defect %s breaks a requirement that is in none of the chosen profiles; name with --focus what to judge", o.Defect)
		}
		return "", err
	}
	return focus, nil
}

// selectScenario loads the scenario of the name. Without a name it loads the cheapest shipped
// one that can judge all that is asked for, or else the default one.
func (p *plan) selectScenario(name, focus string) (err error) {
	switch {
	case name != "":
		p.scenario, p.scenarioYAML, err = LoadScenario(name)
	case focus == "":
		p.scenario, p.scenarioYAML, err = loadShipped(DefaultScenario)
	default:
		cheapest, ok := Cheapest(ids(p.asked))
		if !ok {
			cheapest = DefaultScenario
		}
		p.scenario, p.scenarioYAML, err = loadShipped(cheapest)
	}
	return err
}

// fitTopology holds the topology against the scenario, and sets in it what the scenario needs.
func (p *plan) fitTopology(ctx context.Context, o Options) error {
	if err := p.spare(o); err != nil {
		return err
	}
	if err := p.startAt(ctx, o.Release); err != nil {
		return err
	}
	if err := p.acquaint(); err != nil {
		return err
	}
	if err := p.coordinate(); err != nil {
		return err
	}
	if err := p.migrateAt(p.scenario.Start.MigrationRate); err != nil {
		return err
	}
	if err := p.automate(); err != nil {
		return err
	}
	if err := p.aggregate(); err != nil {
		return err
	}
	return p.publishTopology()
}

// name sets the ID of the run, which the names of objects, folders and processes contain.
func (p *plan) name(now time.Time) error {
	p.id = fmt.Sprintf("%s-%s", p.scenario.Metadata.Name, now.UTC().Format("20060102-150405"))
	if len(validation.IsDNS1123Label(p.id)) > 0 {
		return fmt.Errorf("%s: metadata.name %q must be a short DNS label (lower-case letters, digits and dashes)", p.scenario.File, p.scenario.Metadata.Name)
	}
	return nil
}

// claim asks for what the scenario can judge, and leaves out the profiles of which it can judge
// nothing: a user who names neither profiles nor requirements wants what the scenario is made
// for. A profile of which it cannot judge all stays partial.
func (p *plan) claim() (err error) {
	can := slices.DeleteFunc(slices.Clone(p.profiles), func(profile requirement.Profile) bool {
		return !slices.ContainsFunc(profile.Requirements, func(id requirement.ID) bool { return slices.Contains(p.scenario.Judges, string(id)) })
	})
	if len(can) == 0 {
		return nil // narrow says so
	}
	p.profiles = can
	if p.asked, err = requirement.Select(p.profiles, ""); err != nil {
		return err
	}
	p.asked = slices.DeleteFunc(p.asked, p.cannotJudge)
	return nil
}

// cannotJudge is whether the scenario was not made to judge the requirement.
func (p *plan) cannotJudge(r requirement.Requirement) bool {
	return !slices.Contains(p.scenario.Judges, string(r.ID))
}

// narrow leaves out what the scenario cannot judge; the report tells of it, and
// does not pass.
func (p *plan) narrow() error {
	p.requirements = slices.DeleteFunc(slices.Clone(p.asked), p.cannotJudge)
	if len(p.requirements) == 0 && len(p.defects) > 0 {
		// What a defect breaks may show in any scenario, and nothing is asked to pass beside one.
		p.requirements = slices.Clone(p.asked)
	}
	if len(p.requirements) == 0 {
		return fmt.Errorf("the scenario %s cannot judge %s; leave --scenario out to have one chosen that can",
			p.scenario.Metadata.Name, strings.Join(ids(p.asked), ", "))
	}
	return nil
}

// loadTopology reads a topology; with a release, all its members begin at that.
// What goes into the bundle is what was played.
func (p *plan) loadTopology(name, release string) error {
	if name == "" {
		name = DefaultTopology
	}
	raw, err := clusters.Read(name)
	if err != nil {
		return fmt.Errorf("the topology %s cannot be read: %w", name, err)
	}
	if p.topology, err = cluster.ParseTopology(name, raw); err != nil {
		return err
	}
	p.topologyYAML = raw
	if release == "" {
		return nil
	}
	p.topology.SetRelease(release)
	return p.writeTopology()
}

// writeTopology has the bundle get the topology with the settings that are played.
func (p *plan) writeTopology() (err error) {
	if p.topologyYAML, err = yaml.Marshal(p.topology); err != nil {
		return fmt.Errorf("write the topology %s as it is played: %w", p.topology.File, err)
	}
	return nil
}

// acquaint switches peer-aggregated discovery on if the scenario has discovery.peers, and
// only then: in all other scenarios a server's list counts as what the server itself hosts. An
// external cluster has it or not, whatever the scenario.
func (p *plan) acquaint() error {
	if p.topology.ExternallyManaged() {
		p.scenario.Discovery.Peers = p.topology.Spec.External != nil && p.topology.Spec.External.PeerDiscovery
		return nil
	}
	return p.switchOn(&p.topology.Spec.Settings.PeerDiscovery, p.scenario.Discovery.Peers, "peerDiscovery", "discovery.peers",
		"is judged by what each API server hosts itself")
}

// switchOn makes a setting of the topology what the scenario has under a key, which switches
// it on. why says in a few words of the scenario why the setting must be off without the key.
func (p *plan) switchOn(setting *bool, wanted bool, name, key, why string) error {
	if wanted == *setting || p.topology.ExternallyManaged() {
		return nil
	}
	if *setting {
		return fmt.Errorf("%s has spec.settings.%s, and the scenario %s %s: leave the setting out, which a scenario with %s switches on by itself",
			p.topology.File, name, p.scenario.Metadata.Name, why, key)
	}
	*setting = true
	return p.writeTopology()
}

// coordinate switches coordinated leader election on if the scenario has it, with as many
// extra elections as the scenario says, and has leaders release their Lease on exit or not.
func (p *plan) coordinate() error {
	settings, wanted := &p.topology.Spec.Settings, p.scenario.LeaderElection
	before := *settings
	if p.topology.ExternallyManaged() {
		return nil
	}
	settings.CoordinatedLeaderElection = settings.CoordinatedLeaderElection || wanted.Coordinated
	if wanted.ExtraElections > 0 {
		settings.ExtraElections = wanted.ExtraElections
	}
	settings.LeaderElectReleaseOnExit = cmp.Or(wanted.ReleaseOnExit, settings.LeaderElectReleaseOnExit)
	if *settings == before {
		return nil
	}
	return p.writeTopology()
}

// migrateAt sets the rate of migrations, in objects a second, to that of the scenario if the
// topology has a limit: without one the control plane has no setting for it.
func (p *plan) migrateAt(rate float64) error {
	settings := &p.topology.Spec.Settings
	if rate == 0 || settings.MigrationRate == 0 || p.topology.ExternallyManaged() {
		return nil
	}
	settings.MigrationRate = rate
	return p.writeTopology()
}

// automate switches automatic migration on if the scenario has it, and only then: in all
// other scenarios the migrations are those that steps ask for.
func (p *plan) automate() error {
	return p.switchOn(&p.topology.Spec.Settings.AutomaticMigration, p.scenario.Start.AutomaticMigration, "automaticMigration", "start.automaticMigration",
		"counts on the migrations that it asks for")
}

// aggregate has members run aggregated servers if the scenario has it, and only then.
func (p *plan) aggregate() error {
	return p.switchOn(&p.topology.Spec.Settings.AggregatedServers, p.scenario.Start.AggregatedServers, "aggregatedServers", "start.aggregatedServers",
		"is written for members without an aggregated server")
}

// focusOfDefects has the requirements judged that the defects break.
func (p *plan) focusOfDefects(ctx context.Context) (string, error) {
	known, err := p.provider.Defects(ctx, p.topology.Spec.Distribution)
	if err != nil {
		return "", err
	}
	var broken []string
	for _, id := range p.defects {
		i := slices.IndexFunc(known, func(d cluster.Defect) bool { return d.ID == id })
		if i < 0 {
			return "", fmt.Errorf("there is no defect %q", id)
		}
		broken = append(broken, regexp.QuoteMeta(known[i].Requirement))
	}
	return "^(" + strings.Join(broken, "|") + ")$", nil
}

func ids(requirements []requirement.Requirement) []string {
	var out []string
	for _, r := range requirements {
		out = append(out, string(r.ID))
	}
	return out
}

// LoadScenario reads a scenario file, or the one that ships with Evenkeel under the same
// path or name, with all that it names. What is not in the folders beside its own is what ships, so
// that the scenario of a bundle can be played again.
func LoadScenario(name string) (*scenario.Scenario, []byte, error) {
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		for _, at := range []string{name, ScenarioPath(name)} {
			if s, raw, err := loadShipped(at); err == nil {
				return s, raw, nil
			}
		}
	}
	s, err := scenario.LoadOver(fixtures.Files, name)
	return s, raw, err
}

// loadShipped reads a scenario that is compiled in, by its path in the source.
func loadShipped(name string) (*scenario.Scenario, []byte, error) {
	name = strings.TrimPrefix(path.Clean(filepath.ToSlash(name)), "fixtures/")
	raw, err := fs.ReadFile(fixtures.Files, name)
	if err != nil {
		return nil, nil, err
	}
	s, err := scenario.LoadFS(fixtures.Files, name)
	return s, raw, err
}
