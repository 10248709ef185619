package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// plane is a cluster of one member, and its API.
type plane struct {
	cluster.Cluster

	process  cluster.Process
	running  bool
	paused   bool
	immortal bool // killing has no effect
	shape    cluster.Shape
	apiDown  bool
	failing  error
	// deafToPower answers though its power was cut; sameProcess comes back with
	// the process of before.
	deafToPower, sameProcess bool
	deafToPause              bool   // answers though it is paused
	killed                   func() // called by a kill
	// busy is how much longer an answer takes once a link was shaped, whatever
	// the link does, and idle how much shorter.
	busy, idle time.Duration
	slowed     time.Duration
	stats      cluster.LinkStats
}

func (p *plane) Members() []cluster.Member {
	return []cluster.Member{{Name: "cp1", Components: []cluster.Component{cluster.APIServer}}}
}

func (p *plane) Process(string, cluster.Component) (cluster.Process, bool) {
	return p.process, p.running
}

func (p *plane) Kill(context.Context, string, cluster.Component) error {
	p.running = p.immortal
	if p.killed != nil {
		p.killed()
	}
	return p.failing
}

func (p *plane) StartComponent(context.Context, string, cluster.Component) error {
	p.process.PID++
	p.running = true
	return nil
}

func (p *plane) Pause(context.Context, string, cluster.Component) error {
	p.paused = !p.immortal
	return p.failing
}

func (p *plane) Resume(context.Context, string, cluster.Component) error {
	p.paused = false
	return nil
}

func (p *plane) Paused(string, cluster.Component) (bool, error) { return p.paused, nil }

func (p *plane) SetLink(_ context.Context, _ string, _ cluster.Link, shape cluster.Shape) error {
	if !p.immortal {
		p.shape = shape
	}
	p.slowed = p.busy - p.idle
	return p.failing
}

func (p *plane) LinkStats(string, cluster.Link) (cluster.LinkStats, error) {
	return p.stats, nil
}

func (*plane) Config(string) (*rest.Config, error) { return nil, cluster.ErrUnsupported }

func (p *plane) RoundTrip(ctx context.Context, _ string) (time.Duration, error) {
	switch {
	case p.apiDown:
		return 0, errors.New("the API server does not answer")
	case p.paused && !p.deafToPause || p.shape.Cut || p.slowed > time.Hour:
		if p.shape.Cut {
			p.stats.Withheld++
		}
		<-ctx.Done()
		return 0, ctx.Err()
	case p.shape.Latency > 0:
		p.stats.Delayed += 2
	}
	return p.idle + time.Millisecond + p.slowed + 2*p.shape.Latency, nil
}

type events []history.Event

func (e *events) Now() int64             { return 0 }
func (e *events) Record(h history.Event) { *e = append(*e, h) }

func (e events) phases() string {
	var phases []string
	for _, event := range e {
		phases = append(phases, string(event.Fault.Phase))
	}
	return strings.Join(phases, " ")
}

func TestFaultsAreWitnessed(t *testing.T) {
	apiserver := []cluster.Component{cluster.APIServer}
	crash := &Fault{Name: "f", Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: apiserver}
	pause := &Fault{Name: "f", Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: apiserver}
	delay := &Fault{Name: "f", Type: TypeNetwork, Action: "delay", Components: apiserver, Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: time.Second}}}
	cut := &Fault{Name: "f", Type: TypeNetwork, Action: "partition", Components: apiserver, Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Cut: true}}}
	pauseAll := &Fault{Name: "f", Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.Whole}}
	cutOff := &Fault{Name: "f", Type: TypeNetwork, Action: "partition", Components: []cluster.Component{cluster.Whole}, Effect: LinkFault{Link: cluster.LinkNode, Shape: cluster.Shape{Cut: true}}}
	for _, test := range []struct {
		name   string
		fault  *Fault
		plane  plane
		phases string
	}{
		{"pause of a whole member", pauseAll, plane{}, "inject witness heal"},
		{"pause of a whole member that does not bite", pauseAll, plane{immortal: true}, "inject heal"},
		{"pause of a whole member whose API answers on", pauseAll, plane{deafToPause: true}, "inject heal"},
		{"cut off", cutOff, plane{}, "inject witness heal"},
		{"cut off while the others are not needed", cutOff, plane{immortal: true}, "inject heal"},
		{"crash", crash, plane{}, "inject witness heal witness"},
		{"pause", pause, plane{}, "inject witness heal"},
		{"pause that does not bite", pause, plane{immortal: true}, "inject heal"},
		{"delay", delay, plane{}, "inject witness heal"},
		{"delay that does not bite", delay, plane{immortal: true}, "inject heal"},
		{"delay that does not bite on a machine that got busy", delay, plane{immortal: true, busy: time.Minute}, "inject heal"},
		{"delay on a machine that was busy before", delay, plane{idle: time.Minute}, "inject witness heal"},
		{"delay of a server that is down", delay, plane{apiDown: true}, "inject heal"},
		{"cut", cut, plane{}, "inject witness heal"},
		{"cut that does not bite", cut, plane{immortal: true}, "inject heal"},
		{"cut that does not bite, of a server that hangs", cut, plane{immortal: true, busy: 24 * time.Hour}, "inject heal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, recorded := test.plane, new(events)
			p.process, p.running = cluster.Process{PID: 4, StartTime: 5}, true
			e := NewExecutor(&p, &p, recorded, clock.RealClock{})
			active, err := e.Inject(t.Context(), test.fault, "cp1")
			if err != nil {
				t.Fatal(err)
			}
			if err := active.Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := recorded.phases(); got != test.phases {
				t.Errorf("recorded %q, want %q", got, test.phases)
			}
			component := "apiserver"
			if test.fault.Components[0] == cluster.Whole {
				component = ""
			}
			for _, event := range *recorded {
				f := event.Fault
				if f.ID != "f-1" || event.Member != "cp1" || f.Component != component || (f.Proof != "") != (f.Phase == history.PhaseWitness) {
					t.Errorf("recorded %+v", f)
				}
			}
			if p.paused || p.shape != (cluster.Shape{}) || !p.running {
				t.Errorf("was left faulty: %+v", p)
			}
		})
	}
}

// What was in effect when it was injected need not be so for as long as it was to be.
func TestAFaultThatEndsByItselfIsNoFaultThatLasted(t *testing.T) {
	apiserver := []cluster.Component{cluster.APIServer}
	for _, test := range []struct {
		name   string
		fault  *Fault
		breaks func(*plane)
	}{
		{"a process that was replaced while it was paused", &Fault{Name: "f", Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: apiserver},
			func(p *plane) { p.paused, p.process.PID = false, 5 }},
		{"a link whose carrier was replaced", &Fault{Name: "f", Type: TypeNetwork, Action: "partition", Components: apiserver, Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Cut: true}}},
			func(p *plane) { p.shape, p.stats = cluster.Shape{}, cluster.LinkStats{} }},
		{"a slow link whose carrier was replaced", &Fault{Name: "f", Type: TypeNetwork, Action: "delay", Components: apiserver, Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: time.Millisecond}}},
			func(p *plane) { p.shape, p.stats = cluster.Shape{}, cluster.LinkStats{BytesToServer: 9} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, recorded := &plane{process: cluster.Process{PID: 4, StartTime: 5}, running: true}, new(events)
			active, err := NewExecutor(p, p, recorded, clock.RealClock{}).Inject(t.Context(), test.fault, "cp1")
			if err != nil || recorded.phases() != "inject witness" {
				t.Fatalf("%v, recorded %q", err, recorded.phases())
			}
			test.breaks(p)
			if err := active.Heal(t.Context()); err == nil || recorded.phases() != "inject witness" {
				t.Errorf("%v, recorded %q: it counts as healed", err, recorded.phases())
			}
		})
	}
}

func TestAKillThatKillsNothingHasNoWitness(t *testing.T) {
	p, recorded := &plane{process: cluster.Process{PID: 4}, running: true, immortal: true}, new(events)
	e := NewExecutor(p, p, recorded, clock.RealClock{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	fault := &Fault{Name: "f", Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.APIServer}}
	if _, err := e.Inject(ctx, fault, "cp1"); err == nil {
		t.Error("a cut-off injection is no error")
	}
	if recorded.phases() != "inject" {
		t.Errorf("recorded %q", recorded.phases())
	}
}

func TestAFailedInjectionIsHealed(t *testing.T) {
	for _, fault := range []*Fault{
		{Name: "f", Type: TypeNetwork, Action: "delay", Components: []cluster.Component{cluster.APIServer}, Effect: LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: time.Second}}},
		{Name: "f", Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.APIServer}},
	} {
		p := &plane{running: true, failing: fmt.Errorf("cannot: %w", cluster.ErrUnsupported)}
		_, err := NewExecutor(p, p, new(events), clock.RealClock{}).Inject(t.Context(), fault, "cp1")
		if !errors.Is(err, cluster.ErrUnsupported) || p.paused || p.shape != (cluster.Shape{}) && fault.Type == TypePod {
			t.Errorf("%v, left as %+v", err, p)
		}
	}
}

func TestWhatIsNotThereCannotBeHit(t *testing.T) {
	p := &plane{}
	e := NewExecutor(p, p, new(events), clock.RealClock{})
	for _, fault := range []*Fault{
		{Name: "f", Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.Scheduler}},
		{Name: "f", Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.APIServer}},
		{Name: "f", Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.APIServer}},
	} {
		if _, err := e.Inject(t.Context(), fault, "cp1"); err == nil {
			t.Errorf("%v was injected", fault)
		}
	}
}

func TestACrashIsLeftDownWhenTheRunIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &plane{process: cluster.Process{PID: 4}, running: true, killed: cancel}
	fault := &Fault{Name: "f", Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.APIServer}}
	if _, err := NewExecutor(p, p, new(events), clock.RealClock{}).Inject(ctx, fault, "cp1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if p.running {
		t.Error("Inject waits for a server to start although the context is canceled")
	}
}
