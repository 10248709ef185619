package election_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/evenkeel/evenkeel/pkg/check"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// tenure is which holder has a Lease in effect, by the number of the time it was taken; 0
// is none.
type tenure int

// handover is an operation on it: an instance takes over with the number, or acts.
type handover struct {
	number tenure
	acts   bool
}

// sequentialHandover is what CLE-10 promises, as a sequential object: who takes over later than
// another one has it from then on, and only who has it acts. A take-over comes into
// effect at some moment between the revision at which the Lease was taken and the first
// action that rests on it.
var sequentialHandover = porcupine.Model{
	Init: func() any { return tenure(0) },
	Step: func(state, input, _ any) (bool, any) {
		now, do := state.(tenure), input.(handover)
		if do.acts {
			return do.number == now, now
		}
		return do.number > now, do.number
	},
}

// never is when a take-over has come into effect on which no leader ever acted.
const never = int64(1) << 40

// CLE-10 must find fault with exactly those histories in which hand-over is not
// linearizable. It goes through a history once, and this through all orders.
func TestCLE10_FailsExactlyWhereHandoverIsNotLinearizable(t *testing.T) {
	const stories, steps = 400, 14
	var faults, faultless int
	for seed := range uint64(stories) {
		random := rand.New(rand.NewPCG(seed, 10))
		var ops []porcupine.Operation
		var told []string
		events := election.Impaired(map[string]func(*election.Builder){"led": func(h *election.Builder) {
			names := []string{"cp1_1", "cp2_1", "cp3_1"}
			now := int64(0)
			took := map[string]int{} // the index in ops of the last take-over
			take := func(who string) {
				l := *h.Leases[election.ManagersLease]
				l.Holder, l.Acquired, l.Renewed = who, h.WallTime(), h.WallTime()
				l.Transitions++
				h.Leases[election.ManagersLease] = &l
				h.StoreLease(election.ManagersLease)
				took[who] = len(ops)
				ops = append(ops, porcupine.Operation{Input: handover{number: tenure(now)}, Call: now, Return: never})
				told = append(told, who+" takes")
			}
			for range steps {
				now += 10
				h.Advance(10)
				who := names[random.IntN(len(names))]
				at, had := took[who]
				if !had || random.IntN(3) == 0 {
					if h.Leases[election.ManagersLease].Holder != who {
						take(who)
					}
					continue
				}
				by := &ops[at]
				by.Return = min(by.Return, now-1)
				number := by.Input.(handover).number
				ops = append(ops, porcupine.Operation{Input: handover{number: number, acts: true}, Call: now, Return: now + 1})
				h.Act(who)
				told = append(told, who+" acts")
			}
		}})
		linearizable := porcupine.CheckOperations(sequentialHandover, ops)
		failed := judgeEvents(t, story.NewHeader(), events, "CLE-10").Verdict == check.Fail
		if failed == linearizable {
			t.Fatalf("seed %d: linearizable %t, and CLE-10 fails %t: %s", seed, linearizable, failed, fmt.Sprint(told))
		}
		if linearizable {
			faultless++
		} else {
			faults++
		}
	}
	if faults < stories/10 || faultless < stories/10 {
		t.Errorf("%d stories with a fault and %d without: they are too much alike", faults, faultless)
	}
}
