package explore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// composer draws from all that is registered, for a control plane that can do all.
func composer(t testing.TB, seed int64) *Composer {
	t.Helper()
	steps, faults, workloads, err := registered()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := clusters.Read(clusters.Default)
	if err != nil {
		t.Fatal(err)
	}
	topology, err := cluster.ParseTopology(clusters.Default, raw)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(faults, func(a, b registry.Entry) int { return strings.Compare(a.Name, b.Name) })
	when, err := scenario.WhenParameters()
	if err != nil {
		t.Fatal(err)
	}
	g := &Grammar{When: when, Steps: steps, Faults: faults, Workloads: workloads, Fits: stepFits, Lacks: func(*registry.Entry, registry.Values) string { return "" }}
	return &Composer{Grammar: g, Target: Target{Topology: topology, Releases: []string{"1.1", "1.2", "1.3"}, Name: "x"}, Seed: seed, Members: []int{1, 3, 5}}
}

// schedules is how many a test composes; a short one shows less.
func schedules(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

func compose(t testing.TB, c *Composer, index int, corpus []*Schedule) *Schedule {
	t.Helper()
	s, err := c.Compose(index, corpus)
	if err != nil {
		t.Fatalf("seed %d, schedule %d: %v", c.Seed, index, err)
	}
	return s
}

func TestCompose_SameSeedGivesTheSameBytes(t *testing.T) {
	a, b := composer(t, 7), composer(t, 7)
	var before, again []*Schedule
	different := map[string]bool{}
	for i := range schedules(1000, 60) {
		one, other := compose(t, a, i, before), compose(t, b, i, again)
		if !bytes.Equal(one.Scenario, other.Scenario) || !bytes.Equal(one.Topology, other.Topology) {
			t.Fatalf("schedule %d differs:\n%s\n%s", i, one.Scenario, other.Scenario)
		}
		different[strings.SplitN(string(one.Scenario), "judges:", 2)[1]] = true
		if i%10 == 0 {
			before, again = append(before, one), append(again, other)
		}
	}
	if len(different) < schedules(950, 55) {
		t.Errorf("only %d schedules differ", len(different))
	}
	if bytes.Equal(compose(t, composer(t, 8), 0, nil).Scenario, compose(t, a, 0, nil).Scenario) {
		t.Error("another seed gives the same schedule")
	}
}

func TestCompose_SchedulesAreValid(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := composer(t, rapid.Int64().Draw(r, "seed"))
		var corpus []*Schedule
		for i := range 6 {
			s := compose(t, c, i, corpus)
			corpus = append(corpus, s)
			if err := problem(s); err != nil {
				r.Fatalf("%v\n%s", err, s.Scenario)
			}
		}
	})
}

// populates says why a population cannot be written through all members.
func populates(sc *scenario.Scenario, injected, stopped map[string]bool) error {
	for name := range injected {
		if sc.Faults[name].Type != fault.TypeHTTP {
			return fmt.Errorf("it populates through all members under the fault %s", name)
		}
	}
	if stopped["<nil>"] || stopped["etcd"] || stopped["apiserver"] {
		return errors.New("it populates through members that are stopped")
	}
	return nil
}

// problem says what is wrong with a schedule, without the state that built it.
func problem(s *Schedule) error {
	sc, err := Load(s.Scenario)
	if err != nil {
		return err
	}
	topology, err := cluster.ParseTopology("topology.yaml", s.Topology)
	if err != nil {
		return err
	}
	injected, stopped := map[string]bool{}, map[string]bool{}
	for i, step := range sc.Steps {
		values := scenario.ValuesOf(step.Action)
		if slices.Contains(scenario.Selectors(step), "@triggered") && !ofMember(step.When) {
			return fmt.Errorf("step %d is played at the member of a state that is of none", i+1)
		}
		switch step.Name() {
		case "populate":
			if err := populates(sc, injected, stopped); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
		case "inject":
			injected[values["fault"].(string)] = true
		case "heal":
			if !injected[values["fault"].(string)] {
				return fmt.Errorf("step %d heals what is not injected", i+1)
			}
			delete(injected, values["fault"].(string))
		case "stop":
			stopped[fmt.Sprint(values["component"])] = true
		case "boot":
			delete(stopped, fmt.Sprint(values["component"]))
		case "upgrade", "rollback", "restart":
			if err := away(sc.Steps[:i], len(topology.Spec.Members)); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
		}
	}
	if len(injected)+len(stopped) > 0 {
		return fmt.Errorf("ends with %v injected and %v stopped", injected, stopped)
	}
	if last := sc.Steps[len(sc.Steps)-1]; last.Name() != "hold" {
		return fmt.Errorf("ends with a %s", last.Name())
	}
	return nil
}

// ofMember is whether a trigger is met by what is at a member: a holder, a coordinator or a process.
func ofMember(when *scenario.Trigger) bool {
	if when.Write == nil {
		return when.Elected != "" || when.Member != nil
	}
	return !when.Write.Deleted && (strings.HasPrefix(when.Write.Key, "/registry/leases/") || when.Write.By != "")
}

// Where no coordinator elects, no step is about one, nor waits for what it does.
func TestCompose_WithoutCoordinationNoStepNeedsACoordinator(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := composer(t, rapid.Int64().Draw(r, "seed"))
		topology := *c.Target.Topology
		topology.Spec.Settings.CoordinatedLeaderElection = false
		c.Target.Topology = &topology
		var corpus []*Schedule
		for i := range 6 {
			s := compose(t, c, i, corpus)
			corpus = append(corpus, s)
			sc, err := Load(s.Scenario)
			if err != nil {
				r.Fatal(err)
			}
			if !sc.LeaderElection.Coordinated && slices.ContainsFunc(sc.Steps, needsCoordinator) {
				r.Fatalf("a step needs a coordinator:\n%s", s.Scenario)
			}
		}
	})
}

func needsCoordinator(step scenario.Step) bool {
	if when := step.When; when != nil && (when.Elected != "" && when.Elected != plainLease || when.Write != nil && when.Write.By == "coordinator") {
		return true
	}
	return slices.Contains([]string{"simulateElection", "leaseFields", "deleteCandidates"}, step.Name()) ||
		strings.Contains(fmt.Sprint(scenario.ValuesOf(step.Action)), "@coordinator")
}

// away is an error where more members than a quorum allows are stopped by whole.
func away(steps []scenario.Step, members int) error {
	down := 0
	for _, step := range steps {
		values := scenario.ValuesOf(step.Action)
		component := fmt.Sprint(values["component"])
		if component != "<nil>" && component != "etcd" {
			continue
		}
		switch step.Name() {
		case "stop":
			down++
		case "boot":
			down--
		}
	}
	if down > (members-1)/2 {
		return fmt.Errorf("%d of %d members are away", down, members)
	}
	return nil
}

func TestCompose_ReleasesStayWithinTheSkew(t *testing.T) {
	c := composer(t, 3)
	var corpus []*Schedule
	upgraded, rolledBack := 0, 0
	for i := range schedules(200, 60) {
		s := compose(t, c, i, corpus)
		corpus = append(corpus, s)
		st := newState(s.Settings, c.Target)
		for _, gene := range s.Genes {
			if !st.take(c.Grammar, &gene) {
				t.Fatalf("schedule %d: %s %v is not valid in its place", i, gene.Step, gene.Values)
			}
			if !st.runnable(st.release) {
				t.Fatalf("schedule %d: releases %v after %v", i, st.release, gene)
			}
			switch gene.Step {
			case "upgrade":
				upgraded++
			case "rollback":
				rolledBack++
			}
		}
	}
	if upgraded < 5 || rolledBack < 1 {
		t.Errorf("there are %d upgrades and %d rollbacks", upgraded, rolledBack)
	}
}

func TestCompose_UsesAllThatIsRegistered(t *testing.T) {
	c := composer(t, 5)
	steps, faults, waits := map[string]int{}, map[string]int{}, 0
	members := map[int]bool{}
	for i := range schedules(800, 250) {
		s := compose(t, c, i, nil)
		members[s.Settings.Members] = true
		for _, gene := range s.Genes {
			steps[gene.Step]++
			for _, f := range gene.Faults {
				faults[f.Entry]++
			}
			if gene.When != nil {
				waits++
			}
		}
	}
	for _, entry := range c.Grammar.Steps {
		if steps[entry.Name] == 0 {
			t.Errorf("no schedule has the step %s", entry.Name)
		}
	}
	for _, entry := range c.Grammar.Faults {
		if faults[entry.Name] == 0 && !testing.Short() {
			t.Errorf("no schedule has the fault %s", entry.Name)
		}
	}
	if waits < 50 || len(members) != 3 {
		t.Errorf("%d steps wait for a state; %v members", waits, members)
	}
}

func TestCompose_CostStaysWithinTheBudget(t *testing.T) {
	c := composer(t, 11)
	for i := range schedules(100, 30) {
		s := compose(t, c, i, nil)
		drawn := s.Cost
		for _, gene := range s.Genes[max(0, len(s.Genes)-8):] {
			if entry, err := c.Grammar.step(gene.Step); err == nil && (gene.Step == "heal" || gene.Step == "boot" || gene.Step == "hold" || gene.Step == "awaitMigrations" || gene.Step == "mutate" || gene.Step == "setBackendBehavior") {
				drawn -= costOf(entry, &gene)
			}
		}
		if drawn > DefaultBudget {
			t.Errorf("schedule %d costs %s", i, s.Cost)
		}
	}
}

func TestSchedule_PlaysFromItsFilesAlone(t *testing.T) {
	s := compose(t, composer(t, 2), 4, nil)
	dir := filepath.Join(t.TempDir(), "somewhere")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scenario.yaml"), s.Scenario, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := scenario.LoadOver(fixtures.Files, filepath.Join(dir, "scenario.yaml")); err != nil {
		t.Error(err)
	}
}

func TestEffects_AreOfStepsThatThereAre(t *testing.T) {
	for name := range effects {
		if !slices.Contains(scenario.StepNames(), name) {
			t.Errorf("there is no step %s", name)
		}
	}
	for _, entry := range scenario.Entries() {
		for _, p := range entry.Parameters {
			if p.Domain.Type == registry.KnownName && !slices.Contains([]string{population, separatePopulation, "migration", "backend"}, p.Domain.What) {
				t.Errorf("the step %s needs a %s, which schedules do not make", entry.Name, p.Domain.What)
			}
		}
	}
}

// Variations of variations have copies of one gene beside each other.
func TestRenamed_BesideCopiesOfItself(t *testing.T) {
	gene := Gene{Step: "migrate", Values: registry.Values{"name": "m"}, Faults: map[string]FaultGene{"f": {}}}
	genes := []Gene{gene}
	for range 3 {
		genes = append(genes, renamed(genes[:1], genes)...)
	}
	got := ownNames(genes)
	slices.Sort(got)
	if want := []string{"f", "fb", "fbb", "fbbb", "m", "mb", "mbb", "mbbb"}; !slices.Equal(got, want) {
		t.Errorf("the names are %v, want %v", got, want)
	}
}
