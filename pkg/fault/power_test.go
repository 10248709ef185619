package fault

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func (p *plane) PowerOff(context.Context, string) error {
	p.running, p.apiDown = p.immortal, !p.deafToPower
	return p.failing
}

func (p *plane) PowerOn(context.Context, string) error {
	if !p.sameProcess {
		p.process.PID++
	}
	p.running, p.apiDown = true, false
	return p.failing
}

func TestPowerCutsAreWitnessed(t *testing.T) {
	for _, test := range []struct {
		name    string
		plane   plane
		rejoin  error
		phases  string
		restore string
	}{
		{"cut", plane{}, nil, "inject witness heal witness", ""},
		{"an API that answers from elsewhere", plane{deafToPower: true}, nil, "inject heal witness", ""},
		{"an API that did not answer before", plane{apiDown: true}, nil, "inject heal witness", ""},
		{"the process of before is back", plane{sameProcess: true}, nil, "inject witness heal", ""},
		{"etcd is not whole", plane{}, errors.New("cp1 is behind"), "inject witness heal", "the power of cp1 is restored: cp1 is behind"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, recorded := test.plane, new(events)
			p.process, p.running = cluster.Process{PID: 4, StartTime: 5}, true
			outage, err := NewExecutor(&p, &p, recorded, clock.RealClock{}).CutPower(t.Context(), "cp1")
			if err != nil {
				t.Fatal(err)
			}
			err = outage.Restore(t.Context(), func(context.Context) (string, error) { return "etcd is whole", test.rejoin })
			if (err == nil) != (test.restore == "") || err != nil && err.Error() != test.restore {
				t.Errorf("error %v, want %q", err, test.restore)
			}
			if got := recorded.phases(); got != test.phases {
				t.Errorf("recorded %q, want %q", got, test.phases)
			}
			for i, event := range *recorded {
				f := event.Fault
				if f.ID != "power-cut-1" || f.Type != history.FaultPower || f.Action != history.FaultPowerCut || event.Member != "cp1" ||
					(f.Proof != "") != (f.Phase == history.PhaseWitness) {
					t.Errorf("recorded %+v", f)
				}
				if f.Phase == history.PhaseWitness && !strings.Contains(f.Proof, map[bool]string{true: "etcd is whole", false: "pid 4, started at tick 5"}[i == len(*recorded)-1]) {
					t.Errorf("the proof is %q", f.Proof)
				}
			}
		})
	}
}

func TestAPowerCutThatFails(t *testing.T) {
	p := &plane{process: cluster.Process{PID: 4}, running: true, failing: cluster.ErrUnsupported}
	if _, err := NewExecutor(p, p, new(events), clock.RealClock{}).CutPower(t.Context(), "cp1"); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}
