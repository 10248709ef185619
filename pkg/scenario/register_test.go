package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// A step is a type and its registration: this one is known to nothing else.
type shout struct {
	Member string `yaml:"member"`
	Times  int    `yaml:"times"`
}

var _ = register("shout", func() Action { return &shout{} }, registry.Fields{
	"member": oneMember, "times": registry.Count(1, 9, 1, 3),
}, anywhere)

func (s *shout) validate() error     { return missing("member", s.Member) }
func (s *shout) selectors() []string { return []string{s.Member} }

func (s *shout) play(_ context.Context, r *Runner, at target) error {
	for range s.Times {
		if err := r.cluster.(*fakeCluster).did("shout at %s", at.one()); err != nil {
			return err
		}
	}
	return nil
}

// A kind of fault is a registration too, with an ability that nothing else needs.
const typeClock = "ClockFault"

var setsClocks = cluster.Ability{Name: "clocks that can be set", Lack: func(c cluster.Cluster) string {
	if _, can := c.(clockSetter); !can {
		return "the provider cannot set clocks"
	}
	return ""
}}

type clockSetter interface {
	SetClock(member string, by int) int
}

type clockFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		By int `json:"by"`
	} `json:"spec"`
}

var _ = fault.Register(fault.Kind{
	Type: typeClock, APIVersion: "evenkeel.dev/v1alpha1", Doc: "Sets the clock of a member.",
	Parse: func(file string, raw []byte) (*fault.Fault, error) {
		var f clockFile
		if err := strictyaml.DecodeJSON(file, raw, &f); err != nil {
			return nil, err
		}
		return &fault.Fault{
			Name: f.Metadata.Name, Type: typeClock, Action: "set", Member: fault.StepMember, One: true,
			Components: []cluster.Component{cluster.APIServer}, Effect: clockFault{f.Spec.By},
		}, nil
	},
	Actions: []fault.Action{{
		Name: "set", Doc: "Sets it.", Witness: "the clock tells another time",
		Parameters: []registry.Parameter{{Name: "by", Path: []string{"spec", "by"}, Doc: "is the step", Domain: registry.Count(1, 99, 1, 30)}},
		Object:     func(registry.Values) map[string]any { return map[string]any{} },
	}},
})

type clockFault struct{ by int }

func (clockFault) Does() fault.Does                     { return "sets clocks" }
func (clockFault) Needs(*fault.Fault) []cluster.Ability { return []cluster.Ability{setsClocks} }
func (c clockFault) Inject(_ context.Context, a *fault.Active) (*fault.Injection, error) {
	setter := a.Cluster().(clockSetter)
	a.Injected()
	if now := setter.SetClock(a.Member, c.by); now != 0 {
		a.Witness(0, fmt.Sprintf("the clock of %s is %d s ahead", a.Member, now))
	}
	return &fault.Injection{Remove: func(context.Context) error {
		setter.SetClock(a.Member, -c.by)
		return nil
	}}, nil
}

// clocked is a cluster whose clocks can be set.
type clocked struct {
	*fakeCluster
	ahead map[string]int
}

func (c *clocked) SetClock(member string, by int) int {
	c.ahead[member] += by
	return c.ahead[member]
}

func TestRegister_StepAndFaultThatNothingElseKnowsArePlayed(t *testing.T) {
	var faultFile []byte
	for _, entry := range fault.Entries() {
		if entry.Name != typeClock+"/set" {
			continue
		}
		raw, err := entry.Compose("ahead", registry.Values{"by": 30})
		if err != nil {
			t.Fatal(err)
		}
		faultFile = raw
	}
	files := fstest.MapFS{
		"faults/ahead.yaml": {Data: faultFile},
		"scenarios/x.yaml": {Data: []byte(head + `steps:
- shout: {member: "@cp2", times: 2}
- inject: {fault: ahead.yaml, member: "@cp1"}
- heal: {fault: ahead.yaml}
`)},
	}
	s, err := LoadFS(files, "scenarios/x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if needs := s.Needs(); !slices.Contains(needs, setsClocks.Name) {
		t.Errorf("the scenario needs %v", needs)
	}

	h := newHistory()
	r := newRunner(newFake(), h)
	r.Scenario = s
	if err := r.check(); !errors.Is(err, cluster.ErrUnsupported) || !strings.Contains(err.Error(), "step 2 (inject): the fault ahead.yaml cannot be injected: the provider cannot set clocks") {
		t.Errorf("a cluster without the ability: error %v", err)
	}

	c := &clocked{newFake(), map[string]int{}}
	h = newHistory()
	r = newRunner(c.fakeCluster, h)
	r.Scenario, r.cluster = s, c
	r.faults = fault.NewExecutor(c, nil, h, r.Clock)
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	r.cluster = c.fakeCluster // which the step asks for
	for i := range s.Steps {
		if err := r.play(t.Context(), i+1, &s.Steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"shout at cp2", "shout at cp2"}; !slices.Equal(c.calls, want) {
		t.Errorf("the cluster was asked for %v, want %v", c.calls, want)
	}
	if want := []string{"ClockFault cp1 inject 0", "ClockFault cp1 witness 0", "ClockFault cp1 heal 0"}; !slices.Equal(h.phases(), want) || c.ahead["cp1"] != 0 {
		t.Errorf("told %v, want %v; the clock is %d s ahead", h.phases(), want, c.ahead["cp1"])
	}
	if names := StepNames(); !slices.Contains(names, "shout") {
		t.Errorf("there are the steps %v", names)
	}
}
