package explore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Schedule is what one run plays.
type Schedule struct {
	// Seed and Index are what it was drawn from, and Parent the index of the schedule that it
	// is a variation of; -1 if it is none.
	Seed   int64
	Index  int
	Parent int
	// Settings are those of the scenario and the topology that it varies.
	Settings Settings
	Genes    []Gene
	// Cost is about how long its steps take.
	Cost time.Duration
	// Scenario and Topology are the files.
	Scenario, Topology []byte

	// drawnFrom is how many schedules of the corpus it was drawn from.
	drawnFrom int
}

// Gene is one step of a schedule before it is written down.
type Gene struct {
	Step   string
	Values registry.Values
	// Faults are those that the step names, by the names in its values.
	Faults map[string]FaultGene
	When   *scenario.Trigger

	// alter has the gene of a variation get another value of one parameter as it is built.
	alter bool
}

// FaultGene is a fault before it is written down.
type FaultGene struct {
	Entry  string
	Values registry.Values
	// File is the fault as YAML, and Broad whether it is more than delays and single requests:
	// processes that do not run, or members that are cut off.
	File  []byte
	Broad bool
	// Whole is whether it hits all components of a member, or its etcd.
	Whole bool
}

// Settings are what a schedule varies beside its steps.
type Settings struct {
	Members     int
	Names       string
	Release     int // index of the release that all members begin at
	Coordinated bool
	Extra       int
	Probe       bool // whether leaders are given something to do
	Discovery   bool
	Peers       bool
	Migrations  bool
	Backends    bool
	Share       float64
	Off         bool // whether there is no traffic
	Lease       string
	Shutdown    time.Duration
	NoCache     bool
	Workloads   []string
}

// file is the form of a scenario file that is written.
type file struct {
	APIVersion     string               `yaml:"apiVersion"`
	Kind           string               `yaml:"kind"`
	Metadata       scenario.Metadata    `yaml:"metadata"`
	Description    string               `yaml:"description"`
	Judges         []string             `yaml:"judges,flow"`
	Traffic        scenario.Traffic     `yaml:"traffic"`
	Discovery      scenario.Discovery   `yaml:"discovery,omitempty"`
	LeaderElection map[string]any       `yaml:"leaderElection,omitempty"`
	Migrations     scenario.Migrations  `yaml:"migrations,omitempty"`
	Start          scenario.Start       `yaml:"start,omitempty"`
	Faults         map[string]yaml.Node `yaml:"faults,omitempty"`
	Steps          []yaml.Node          `yaml:"steps"`
}

// backendName is the aggregated server of a schedule that has one.
const backendName = "tides"

// write makes the files of a schedule.
func (s *Schedule) write(g *Grammar, t Target) error {
	f := file{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Metadata: scenario.Metadata{Name: s.name(t)}, Description: s.describe(), Faults: map[string]yaml.Node{}}
	f.Judges = s.judges()
	f.Traffic = scenario.Traffic{Off: s.Settings.Off, Workloads: s.Settings.Workloads}
	if s.Settings.Share < 1 {
		f.Traffic.Share = &s.Settings.Share
	}
	f.Discovery = scenario.Discovery{Record: s.Settings.Discovery || s.Settings.Peers, Peers: s.Settings.Peers}
	if s.Settings.Backends {
		f.Discovery.Backends = []string{backendName}
	}
	f.LeaderElection = s.Settings.election()
	f.Migrations.Watch = s.Settings.Migrations
	f.Start.Release = t.Releases[s.Settings.Release]
	for i := range s.Genes {
		node, err := s.Genes[i].node(g)
		if err != nil {
			return fmt.Errorf("step %d of schedule %d: %w", i+1, s.Index, err)
		}
		f.Steps = append(f.Steps, node)
		for _, name := range slices.Sorted(maps.Keys(s.Genes[i].Faults)) {
			if f.Faults[name], err = nodeOf(s.Genes[i].Faults[name].File); err != nil {
				return err
			}
		}
	}
	var err error
	if s.Scenario, err = yaml.Marshal(&f); err != nil {
		return fmt.Errorf("write schedule %d: %w", s.Index, err)
	}
	s.Topology, err = yaml.Marshal(s.Settings.topology(t.Topology, f.Start.Release))
	return err
}

func (s *Settings) election() map[string]any {
	out := map[string]any{}
	if s.Coordinated {
		out["coordinated"] = true
	}
	if s.Extra > 0 {
		out["extraElections"] = s.Extra
	}
	if s.Probe {
		out["leaderActivityProbe"] = true
	}
	return out
}

// topology is the target's with the settings, whose members begin at a release.
func (s *Settings) topology(base *cluster.Topology, release string) *cluster.Topology {
	out := *base
	out.Spec.Members = nil
	for i := range s.Members {
		out.Spec.Members = append(out.Spec.Members, cluster.MemberSpec{Name: memberName(s.Names, i)})
	}
	out.Spec.Release = release
	if s.Lease != "" {
		lease := leases[s.Lease]
		out.Spec.Settings.LeaderElectLeaseDuration = cluster.Duration(lease.duration)
		out.Spec.Settings.LeaderElectRenewDeadline = cluster.Duration(lease.deadline)
		out.Spec.Settings.LeaderElectRetryPeriod = cluster.Duration(lease.retry)
	}
	if s.Shutdown > 0 {
		out.Spec.Settings.ShutdownDelayDuration = cluster.Duration(s.Shutdown)
	}
	out.Spec.Settings.WithoutWatchCache = out.Spec.Settings.WithoutWatchCache || s.NoCache
	return &out
}

// leases are timings of leader election beside those of the topology, in the ratio that
// Kubernetes has.
var leases = map[string]struct{ duration, deadline, retry time.Duration }{
	"short": {8 * time.Second, 5 * time.Second, time.Second},
	"long":  {20 * time.Second, 14 * time.Second, 3 * time.Second},
}

// Schemes of members' names: as usual, names of which one begins another, and long ones.
const (
	namesUsual  = "usual"
	namesShared = "shared"
	namesLong   = "long"
)

func memberName(scheme string, i int) string {
	switch scheme {
	case namesShared:
		return [...]string{"cp1", "cp1-a", "cp11", "cp1-1", "cp"}[i]
	case namesLong:
		return fmt.Sprintf("control-plane-member-with-a-long-name-%d", i+1)
	}
	return fmt.Sprintf("cp%d", i+1)
}

func (s *Schedule) name(t Target) string { return fmt.Sprintf("%s-%d", t.Name, s.Index) }

func (s *Schedule) describe() string {
	text := fmt.Sprintf("Schedule %d that evenkeel explore composed from seed %d", s.Index, s.Seed)
	if s.Parent >= 0 {
		text += fmt.Sprintf(", as a variation of schedule %d", s.Parent)
	}
	return text + "."
}

// judges are the requirements that can be judged with these settings.
func (s *Schedule) judges() []string {
	var out []string
	for _, r := range requirement.All() {
		if id := string(r.ID); s.Settings.Peers == slices.Contains(scenario.JudgedWithPeers(), id) {
			out = append(out, id)
		}
	}
	return out
}

// node is the step as YAML.
func (gene *Gene) node(g *Grammar) (yaml.Node, error) {
	entry, err := g.step(gene.Step)
	if err != nil {
		return yaml.Node{}, err
	}
	raw, err := entry.Compose("", gene.Values)
	if err != nil {
		return yaml.Node{}, err
	}
	node, err := nodeOf(raw)
	if err != nil || gene.When == nil {
		return node, err
	}
	var when yaml.Node
	if err := when.Encode(gene.When); err != nil {
		return yaml.Node{}, err
	}
	node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: scenario.WhenKey}, &when)
	return node, nil
}

// nodeOf is the one value of a document.
func nodeOf(raw []byte) (yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return yaml.Node{}, err
	}
	if len(document.Content) != 1 {
		return yaml.Node{}, fmt.Errorf("%q is no single value", raw)
	}
	return *document.Content[0], nil
}

// MaxMembers is the most members that a schedule can have: there are names for so many.
const MaxMembers = 5
