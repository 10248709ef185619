package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// played is what the genes of a schedule come to, one after the other.
type played struct {
	*Schedule
	// after is the state after each gene.
	after []*state
}

func play(t *testing.T, c *Composer, s *Schedule) played {
	t.Helper()
	st, out := newState(s.Settings, c.Target), played{Schedule: s}
	for _, gene := range s.Genes {
		if !st.take(c.Grammar, &gene) {
			t.Fatalf("schedule %d: %s %v is not valid in its place", s.Index, gene.Step, gene.Values)
		}
		out.after = append(out.after, st.clone())
	}
	return out
}

// any is whether a gene, with the state after it, is of a kind.
func (p played) any(is func(gene *Gene, before, after *state) bool) bool {
	before := newState(p.Settings, Target{})
	for i := range p.Genes {
		if is(&p.Genes[i], before, p.after[i]) {
			return true
		}
		before = p.after[i]
	}
	return false
}

// again is whether a step is played twice with the same values under some names, and others else.
func (p played) again(step string, same ...string) bool {
	for i, one := range p.Genes {
		for _, other := range p.Genes[:i] {
			alike := one.Step == step && other.Step == step && fmt.Sprint(one.Values) != fmt.Sprint(other.Values)
			for _, name := range same {
				alike = alike && one.Values[name] != nil && one.Values[name] == other.Values[name]
			}
			if alike {
				return true
			}
		}
	}
	return false
}

// apart is how many members run a newer release than the others, where some do.
func apart(st *state) int {
	least := slices.Min(st.release)
	return len(slices.DeleteFunc(slices.Clone(st.release), func(r int) bool { return r == least }))
}

func triggered(is func(when *scenario.Trigger) bool) func(played) bool {
	return func(p played) bool {
		return p.any(func(gene *Gene, _, _ *state) bool { return gene.When != nil && is(gene.When) })
	}
}

func written(is func(w *scenario.WriteTrigger) bool) func(played) bool {
	return triggered(func(when *scenario.Trigger) bool { return when.Write != nil && is(when.Write) })
}

func with(parameter string) func(played) bool {
	return func(p played) bool {
		return p.any(func(gene *Gene, _, _ *state) bool { return gene.Values[parameter] != nil })
	}
}

// dimensions are what schedules have to reach, by the issue that asks for exploring.
var dimensions = map[string]func(played) bool{
	"an upgrade by two releases": func(p played) bool {
		return p.any(func(_ *Gene, _, after *state) bool { return slices.Min(after.release) >= p.Settings.Release+2 })
	},
	"a rollback of all members": func(p played) bool {
		return p.any(func(gene *Gene, before, after *state) bool {
			return gene.Step == "rollback" && slices.Max(after.release) < before.highest
		})
	},
	"an upgrade that is aborted after one member": func(p played) bool {
		return p.any(func(gene *Gene, before, _ *state) bool { return gene.Step == "rollback" && apart(before) == 1 })
	},
	"an upgrade that is aborted after two members": func(p played) bool {
		return p.any(func(gene *Gene, before, _ *state) bool { return gene.Step == "rollback" && apart(before) == 2 })
	},
	"the last peer leaves": func(p played) bool {
		return p.any(func(gene *Gene, _, after *state) bool {
			if gene.Step == "stop" && gene.Values["member"] == "@followers" && gene.Values["component"] == "apiserver" {
				return true
			}
			gone := map[int]bool{}
			for _, d := range after.stopped {
				for _, m := range d.members {
					if d.broad {
						gone[m] = true
					}
				}
			}
			return p.Settings.Members > 1 && len(gone) == p.Settings.Members-1
		})
	},
	"Leases that are denied": func(p played) bool {
		return p.any(func(gene *Gene, _, _ *state) bool {
			for _, f := range gene.Faults {
				if f.Entry == "AdmissionFault/deny" && f.Values["resource"] == "leases" && f.Values["group"] == "coordination.k8s.io" {
					return true
				}
			}
			return false
		})
	},
	"an API that is changed":         func(p played) bool { return p.again("registerAPI", "crd", "group") },
	"a population migrated again":    func(p played) bool { return p.again("migrate", "population") },
	"a member upgraded again":        func(p played) bool { return p.again("upgrade", "member") },
	"a Lease disrupted again":        func(p played) bool { return p.again("disruptLease", "lease") },
	"one member without features":    with("disabledFeatures"),
	"faults around a restart":        with("withFaults"),
	"a server that does not exist":   with("addUnknownServer"),
	"a StorageVersion that is gone":  with("deleteStorageVersions"),
	"an identity Lease that is gone": with("deleteIdentityLeases"),
	"candidates that are gone": func(p played) bool {
		return p.any(func(g *Gene, _, _ *state) bool { return g.Step == "deleteCandidates" })
	},
	"a graceful stop with a delay":  func(p played) bool { return p.Settings.Shutdown > 0 },
	"short Leases":                  func(p played) bool { return p.Settings.Lease == "short" },
	"long Leases":                   func(p played) bool { return p.Settings.Lease == "long" },
	"names that begin others":       func(p played) bool { return p.Settings.Names == namesShared && p.Settings.Members > 1 },
	"long names":                    func(p played) bool { return p.Settings.Names == namesLong },
	"one member":                    func(p played) bool { return p.Settings.Members == 1 },
	"five members":                  func(p played) bool { return p.Settings.Members == 5 },
	"a later write by coordinators": written(func(w *scenario.WriteTrigger) bool { return w.By == "coordinator" && w.Count >= 2 }),
	"a write by the holder":         written(func(w *scenario.WriteTrigger) bool { return w.By == "holder" }),
	"a deletion":                    written(func(w *scenario.WriteTrigger) bool { return w.Deleted }),
	"a revision":                    written(func(w *scenario.WriteTrigger) bool { return w.Revision > 1 }),
	"between election and renewal":  triggered(func(when *scenario.Trigger) bool { return when.Elected != "" }),
	"an election that is not coordinated": func(p played) bool {
		return !p.Settings.Coordinated && triggered(func(when *scenario.Trigger) bool { return when.Elected != "" })(p)
	},
	"a key that exists":      triggered(func(when *scenario.Trigger) bool { return when.Exists != "" }),
	"when half is migrated":  triggered(func(when *scenario.Trigger) bool { return when.Migrated != nil && when.Migrated.Share == "50%" }),
	"a phase of a component": triggered(func(when *scenario.Trigger) bool { return when.Member != nil }),
	"the member of the state": func(p played) bool {
		return strings.Contains(string(p.Scenario), "'@triggered'") || strings.Contains(string(p.Scenario), `"@triggered"`)
	},
}

func TestCompose_ReachesEachDimension(t *testing.T) {
	if testing.Short() {
		t.Skip("composes a thousand schedules")
	}
	c := composer(t, 9)
	missing := maps.Clone(dimensions)
	for _, entry := range c.Grammar.Faults {
		for _, p := range entry.Parameters {
			// Only a Lease that is denied can have a name, which is too rare to be asked for.
			if p.Domain.Type != registry.Text && p.Domain.Type != registry.Choice || entry.Name == "AdmissionFault/deny" && p.Name == "name" {
				continue
			}
			for _, value := range p.Domain.Values {
				kind := kindOf(entry.Name)
				missing[fmt.Sprintf("a %s with the %s %v", kind, p.Name, value)] = ofFault(kind, p, value)
			}
		}
	}
	var corpus []*Schedule
	for i := 0; i < 2500 && len(missing) > 0; i++ {
		s := compose(t, c, i, corpus)
		if i%3 == 0 {
			corpus = append(corpus, s)
		}
		p := play(t, c, s)
		for name, reached := range missing {
			if reached(p) {
				delete(missing, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no schedule has %s", name)
	}
}

// ofFault is whether a schedule has a fault with a value of a parameter.
func ofFault(kind string, p registry.Parameter, value any) func(played) bool {
	return func(s played) bool {
		return s.any(func(gene *Gene, _, _ *state) bool {
			for _, f := range gene.Faults {
				given, ok := f.Values[p.Name]
				if kindOf(f.Entry) == kind && ok && slices.ContainsFunc(list(p.Domain, given), func(one any) bool { return fmt.Sprint(one) == fmt.Sprint(value) }) {
					return true
				}
			}
			return false
		})
	}
}

func TestMayStop_LeavesOneAPIServerAndAMajorityOfEtcd(t *testing.T) {
	c := composer(t, 1)
	stop := func(member, component string) *Gene {
		values := registry.Values{"member": member}
		if component != "" {
			values["component"] = component
		}
		return &Gene{Step: "stop", Values: values}
	}
	st := newState(Settings{Members: 3, Share: 1}, c.Target)
	for _, tc := range []struct {
		gene *Gene
		want bool
	}{
		{stop("@cp2", "apiserver"), true}, {stop("@cp3", "apiserver"), true}, {stop("@cp1", "apiserver"), false},
		{stop("@cp1", "etcd"), false}, {stop("@leader", "apiserver"), false}, {stop("@cp1", "scheduler"), true},
	} {
		if got := st.take(c.Grammar, tc.gene); got != tc.want {
			t.Errorf("%v with %d stopped: %t", tc.gene.Values, len(st.stopped), got)
		}
	}
	populate := &Gene{Step: "populate", Values: registry.Values{"name": "p", "workloads": []any{"configmaps.yaml"}, "count": 1}}
	if st.clone().take(c.Grammar, populate) {
		t.Error("objects are created through members that are stopped")
	}
	alone := newState(Settings{Members: 3, Share: 1}, c.Target)
	if !alone.take(c.Grammar, stop("@followers", "apiserver")) || alone.clone().take(c.Grammar, stop("@cp1", "apiserver")) {
		t.Error("with all followers stopped one more can be")
	}
	single := newState(Settings{Members: 1, Share: 1}, c.Target)
	if single.take(c.Grammar, stop("@cp1", "apiserver")) {
		t.Error("the only API server was stopped")
	}
}

func TestMayEmulate_OnlyWhatTheBinariesCan(t *testing.T) {
	c := composer(t, 1)
	for _, tc := range []struct {
		release             int
		version, compatible string
		want                bool
	}{
		{0, "@previous", "", false}, {0, "@start+1", "", false}, {0, "@start", "", true}, {1, "@previous", "", true},
		{1, "", "@start", false}, {1, "", "@previous", true}, {1, "@previous", "@previous", true}, {2, "@start+1", "", false},
	} {
		st := newState(Settings{Members: 3, Share: 1, Release: tc.release}, c.Target)
		gene := Gene{Step: "emulate", Values: registry.Values{"members": []any{"@cp2", "@leader"}}}
		for name, value := range map[string]string{"version": tc.version, "compatible": tc.compatible} {
			if value != "" {
				gene.Values[name] = value
			}
		}
		if got := st.take(c.Grammar, &gene); got != tc.want {
			t.Errorf("%+v: %t", tc, got)
		}
	}
	st := newState(Settings{Members: 3, Share: 1, Release: 0}, c.Target)
	upgrade := Gene{Step: "upgrade", Values: registry.Values{"member": "@cp1", "to": "@next", "emulate": "@previous"}}
	if st.take(c.Grammar, &upgrade) {
		t.Error("a member emulates the release before the oldest one")
	}
}

// A policy is made through one member, and is for all.
func TestPolicy_KeepsEveryAPIServerFromStarting(t *testing.T) {
	c := composer(t, 1)
	st := newState(Settings{Members: 3, Share: 1, Release: 0}, c.Target)
	inject := Gene{Step: "inject", Values: registry.Values{"member": "@cp1", "fault": "f"}, Faults: map[string]FaultGene{"f": {Entry: "AdmissionFault/deny"}}}
	upgrade := Gene{Step: "upgrade", Values: registry.Values{"member": "@cp3", "to": "@next"}}
	if !st.take(c.Grammar, &inject) || st.clone().take(c.Grammar, &upgrade) {
		t.Error("a member is upgraded while a policy is there")
	}
	heal := Gene{Step: "heal", Values: registry.Values{"fault": "f"}}
	if !st.take(c.Grammar, &heal) || !st.take(c.Grammar, &upgrade) {
		t.Error("no member can be upgraded after it")
	}
}

func TestRenamed_GivesCopiesNamesOfTheirOwn(t *testing.T) {
	gene := Gene{Step: "registerAPI", Values: registry.Values{"shortNames": []any{"sn1"}}, Faults: map[string]FaultGene{"f": {File: []byte("metadata: {name: f}\n")}}}
	got := renamed([]Gene{gene}, []Gene{gene})[0]
	if short := got.Values["shortNames"]; fmt.Sprint(short) != "[sn1b]" {
		t.Errorf("the short names are %v", short)
	}
	if file := string(got.Faults["fb"].File); !strings.Contains(file, "name: fb") {
		t.Errorf("the fault is %q", file)
	}
}

func TestVary_DoesNotPileUpDefinitionsOfTheBackend(t *testing.T) {
	c := composer(t, 6)
	var corpus []*Schedule
	for i := range 120 {
		s := compose(t, c, i, corpus)
		corpus = []*Schedule{s}
		n := 0
		for _, gene := range s.Genes {
			if gene.Step == "registerAPI" && fmt.Sprint(gene.Values) == fmt.Sprint(backendDefinition()) {
				n++
			}
		}
		if n > 2 {
			t.Fatalf("schedule %d defines its backend %d times", i, n)
		}
	}
}

func TestMayCome_PhaseOfAComponentThatTheStepBeforeTouched(t *testing.T) {
	c := composer(t, 1)
	when := func(member string) *scenario.Trigger {
		return &scenario.Trigger{Member: &scenario.MemberTrigger{Name: member, Phase: "ready"}}
	}
	st := newState(Settings{Members: 3, Share: 1}, c.Target)
	take := func(gene Gene) {
		t.Helper()
		if !st.take(c.Grammar, &gene) {
			t.Fatalf("%s is not valid", gene.Step)
		}
	}
	if !st.mayCome(when("@cp3")) {
		t.Error("a member that has just been started does not become ready")
	}
	take(Gene{Step: "hold", Values: registry.Values{"name": "h", "for": closingHold}})
	if st.mayCome(when("@cp3")) {
		t.Error("a member changes its phase while nothing is done")
	}
	take(Gene{Step: "upgrade", Values: registry.Values{"member": "@cp3", "to": "@next"}})
	if !st.mayCome(when("@cp3")) || st.mayCome(when("@cp1")) {
		t.Error("after an upgrade of cp3 another member changes its phase")
	}
	take(Gene{Step: "inject", Values: registry.Values{"member": "@cp2", "fault": "f"}, Faults: map[string]FaultGene{"f": {Broad: true}}})
	if !st.mayCome(when("@cp2")) {
		t.Error("what freezes a component does not change its phase")
	}
	take(Gene{Step: "hold", Values: registry.Values{"name": "h2", "for": closingHold}})
	take(Gene{Step: "heal", Values: registry.Values{"fault": "f"}})
	if !st.mayCome(when("@cp2")) {
		t.Error("what is healed does not change its phase")
	}
}

// A migration of objects that are there is what storage version migration is about.
func TestCompose_MigratesPopulationsOften(t *testing.T) {
	c := composer(t, 21)
	migrated, all := 0, schedules(300, 100)
	for i := range all {
		for _, gene := range compose(t, c, i, nil).Genes {
			if gene.Step == "migrate" && gene.Values["population"] != nil {
				migrated++
			}
		}
	}
	if migrated < all/12 {
		t.Errorf("%d schedules migrate %d populations", all, migrated)
	}
}
