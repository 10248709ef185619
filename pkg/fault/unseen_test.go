package fault

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// unseenPlane is a plane whose provider does not see the processes.
type unseenPlane struct{ *plane }

func (p unseenPlane) StartComponent(context.Context, string, cluster.Component) error {
	p.running = true
	if !p.sameProcess {
		p.process.StartTime++
	}
	return nil
}

func (p unseenPlane) LinkStats(string, cluster.Link) (cluster.LinkStats, error) {
	return cluster.LinkStats{}, fmt.Errorf("links have no counters here: %w", cluster.ErrUnsupported)
}

func TestWitness_WhereTheProviderSeesNoProcesses(t *testing.T) {
	crash := &Fault{Name: "crash", Type: TypePod, Action: "container-kill", Effect: Kill{}, Components: []cluster.Component{cluster.APIServer}}
	pause := &Fault{Name: "pause", Type: TypePod, Action: "pod-failure", Effect: Freeze{}, Components: []cluster.Component{cluster.Whole}}
	cut := &Fault{Name: "cut", Type: TypeNetwork, Action: "partition", Components: []cluster.Component{cluster.APIServer},
		Effect: LinkFault{Link: cluster.LinkNode, Shape: cluster.Shape{Cut: true}}}
	for _, tc := range []struct {
		name    string
		fault   *Fault
		plane   plane
		witness string
	}{
		{"another process after a crash", crash, plane{}, "apiserver of cp1 is another process now: started at 1970-01-01T00:00:00.05Z by its own word before, started at 1970-01-01T00:00:00.06Z by its own word after"},
		{"no answer, and then the same process", crash, plane{sameProcess: true}, ""},
		{"silent while paused", pause, plane{}, "had no answer within 400ms during the fault"},
		{"answers while paused", pause, plane{deafToPause: true}, ""},
		{"silent before it was paused", pause, plane{apiDown: true}, ""},
		{"silent while cut off", cut, plane{}, "had no answer within 400ms during the fault"},
		{"answers while cut off", cut, plane{immortal: true}, ""},
		{"silent before it was cut off", cut, plane{apiDown: true}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, recorded := unseenPlane{&tc.plane}, new(events)
			p.process, p.running = cluster.Process{StartTime: 5}, true
			executor := NewExecutor(p, p, recorded, clock.RealClock{})
			active, err := executor.Inject(t.Context(), tc.fault, "cp1")
			if err != nil {
				t.Fatal(err)
			}
			if err := active.Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
			var proofs []string
			for _, ev := range *recorded {
				if ev.Fault != nil && ev.Fault.Proof != "" {
					proofs = append(proofs, ev.Fault.Proof)
				}
			}
			if got := strings.Join(proofs, "; "); (got == "") != (tc.witness == "") || !strings.Contains(got, tc.witness) {
				t.Errorf("the witness is %q, want %q", got, tc.witness)
			}
			if strings.Contains(strings.Join(proofs, ""), "kernel") {
				t.Error("the witness names the kernel, which the harness has not asked")
			}
		})
	}
}
