package election

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Whatever a Lease and its candidates contain, an election ends: a healthy candidate that
// answers leads, or the Lease has a strategy of another coordinator. No holder loses the
// Lease before it expires, and every written Lease is readable.
func FuzzDecide(f *testing.F) {
	const beyond = 300_000_000_000 // seconds; no year that far away can be written
	f.Add(uint16(0), "", "", "", int32(0), int32(0), "", "", "", int64(0), int64(0), "", "", "", int64(0), int64(0))
	f.Add(uint16(0xffff), "odd", "absent", "", int32(-1), int32(math.MaxInt32), "x", "1.99999999999999999999.0", "", int64(-beyond), int64(0),
		"0.0.0", "", "example.com/x", int64(0), int64(beyond))
	f.Add(uint16(0x7fff), "well", "", string(Oldest), int32(math.MaxInt32), int32(math.MinInt32), "0.0.1", "", string(Oldest), int64(beyond), int64(0),
		"0.0.2", "0.0.1", string(Oldest), int64(-1), int64(-beyond))
	f.Add(uint16(0x8), "", "", "", int32(0), int32(0), "", "", "", int64(0), int64(0), "2.0.0", "", "", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, there uint16, holder, preferred, marked string, seconds, transitions int32,
		binary1, emulation1, strategy1 string, renewed1, pinged1 int64, binary2, emulation2, strategy2 string, renewed2, pinged2 int64) {
		// Each bit of there says whether one of the things that may be left out is there.
		has := func() bool {
			bit := there & 1
			there >>= 1
			return bit == 1
		}
		var lease *coordinationv1.Lease
		if has() {
			lease = &coordinationv1.Lease{}
			lease.Spec.HolderIdentity, lease.Spec.PreferredHolder = optional(has(), holder), optional(has(), preferred)
			lease.Spec.Strategy = optional(has(), coordinationv1.CoordinatedLeaseStrategy(marked))
			lease.Spec.LeaseDurationSeconds, lease.Spec.LeaseTransitions = optional(has(), seconds), optional(has(), transitions)
		}
		odd := func(name, binary, emulation, strategy string, renewed, pinged int64) *Candidate {
			c := &Candidate{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
			c.Spec.BinaryVersion, c.Spec.EmulationVersion, c.Spec.Strategy = binary, emulation, coordinationv1.CoordinatedLeaseStrategy(strategy)
			c.Spec.RenewTime, c.Spec.PingTime = optional(has(), at(renewed)), optional(has(), at(pinged))
			return c
		}
		candidates := []*Candidate{
			odd("odd-1", binary1, emulation1, strategy1, renewed1, pinged1),
			odd("odd-2", binary2, emulation2, strategy2, renewed2, pinged2),
			candidate("well", "1.0.0"),
		}
		(&contest{t: t, lease: lease, candidates: candidates, now: noon, since: noon}).run()
	})
}

func optional[T any](there bool, v T) *T {
	if !there {
		return nil
	}
	return &v
}

// at is a moment as the API can tell it: no other reaches a coordinator.
func at(seconds int64) metav1.MicroTime {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	moment := time.Unix(noon.Unix()+seconds, 0).UTC()
	switch {
	case moment.Before(first):
		moment = first
	case moment.After(last):
		moment = last
	}
	return metav1.NewMicroTime(moment)
}

// contest is a Lease, its candidates and a coordinator, in a time of their own. The
// candidate called "well" answers at once, the others never do.
type contest struct {
	t          *testing.T
	lease      *coordinationv1.Lease
	candidates []*Candidate
	round      Round
	now, since time.Time
}

// steps are more than an election can need: to ask, to wait for answers, to wait for the
// end of the Lease, and each of them once more.
const steps = 12

func (c *contest) run() {
	for range steps {
		decision := Decide(View{Lease: c.lease, Since: c.since, Candidates: c.candidates}, c.round, c.now)
		c.round = decision.Round
		switch w := decision.Write; {
		case w != nil:
			c.write(w)
			return
		case len(decision.Ping) > 0:
			c.ping(decision.Ping)
		case decision.Recheck > 0:
			c.now = c.now.Add(decision.Recheck)
			// The one that is well renews without being asked.
			c.candidates[2].Spec.RenewTime = ptr.To(RenewTime(c.candidates[2], c.now))
		default:
			c.rest()
			return
		}
	}
	c.t.Fatalf("no end after %s: %+v of %+v", c.now.Sub(noon), c.lease, c.candidates)
}

func (c *contest) ping(asked []*Candidate) {
	if c.round.Asked == nil {
		c.round.Asked = map[types.UID]metav1.MicroTime{}
	}
	for _, one := range asked {
		at := PingTime(one, c.now)
		one.Spec.PingTime = ptr.To(at)
		c.round.Asked[one.UID] = at
		if one.Name == "well" {
			one.Spec.RenewTime = ptr.To(RenewTime(one, c.now))
		}
		readable(c.t, one)
	}
}

func (c *contest) write(w *Write) {
	open, left := Vacant(c.lease, c.since, c.now)
	if !open && w.Preferred == "" {
		c.t.Fatalf("taken %s before its end: %+v", left, w)
	}
	if elected := w.Holder + w.Preferred; elected != "well" && elected != "" {
		c.t.Fatalf("%s is elected, and has not answered", elected)
	}
	if w.Holder+w.Preferred == "" && (w.Strategy == Oldest || w.Strategy == Newest) {
		c.t.Fatalf("the write names neither a holder, nor a preferred holder, nor another strategy: %+v", w)
	}
	after := Apply(*w, author, c.now)
	readable(c.t, after)
	if w.Holder == "" {
		return
	}
	var before int32
	if c.lease != nil {
		before = ptr.Deref(c.lease.Spec.LeaseTransitions, 0)
	}
	if got := ptr.Deref(after.Spec.LeaseTransitions, -1); got < 0 || got < before {
		c.t.Fatalf("%d transitions after %d", got, before)
	}
}

// rest is that the coordinator has nothing to do until something changes.
func (c *contest) rest() {
	open, _ := Vacant(c.lease, c.since, c.now)
	if open && strategy(c.lease) == "" {
		c.t.Fatalf("the Lease has no leader, and the election has ended: %+v of %+v", c.lease, c.candidates)
	}
}

// readable is that something can be read as it was written, without which it could
// neither be changed nor listed.
func readable[T any](t *testing.T, object *T) {
	t.Helper()
	raw, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(raw, new(T))
	}
	if err != nil {
		t.Fatalf("%+v cannot be written and read: %v", object, err)
	}
}
