package candidacy

import (
	"context"
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/electiontest"
)

// rivalry is an instance, another one that takes the Lease when it has expired, and a coordinator.
type rivalry struct {
	client  *fake.Clientset
	clock   *clocktesting.FakeClock
	elector *Elector
	// versions are all that the server had, oldest first.
	versions []*coordinationv1.Lease
	// changed is when the Lease changed last, by the server.
	changed time.Time
	// step was decided and is not taken yet.
	step *election.Step
}

func newRivalry(t *rapid.T) *rivalry {
	r := &rivalry{client: electiontest.NewServer(), clock: clocktesting.NewFakeClock(time.Now())}
	e, err := New(Options{
		Client: r.client, Namespace: "ns", Lease: "l", Name: "me", BinaryVersion: "1.2.0", Clock: r.clock,
		Lead: func(ctx context.Context, _ Term) { <-ctx.Done() },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.elector = e
	e.begin()
	return r
}

func (r *rivalry) lease(t *rapid.T) *coordinationv1.Lease {
	list, err := r.client.CoordinationV1().Leases("ns").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	now := &list.Items[0]
	if n := len(r.versions); n == 0 || r.versions[n-1].ResourceVersion != now.ResourceVersion {
		r.versions, r.changed = append(r.versions, now), r.clock.Now()
	}
	return now.DeepCopy()
}

// write has another client write the Lease as it is on the server.
func (r *rivalry) write(t *rapid.T, lease *coordinationv1.Lease) {
	leases, err := r.client.CoordinationV1().Leases("ns"), error(nil)
	if lease.ResourceVersion == "" {
		_, err = leases.Create(context.Background(), lease, metav1.CreateOptions{})
	} else {
		_, err = leases.Update(context.Background(), lease, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	r.lease(t)
}

// open is whether a client that has seen the last change may take the Lease.
func (r *rivalry) open(t *rapid.T) (*coordinationv1.Lease, bool) {
	lease := r.lease(t)
	open, _ := election.Vacant(lease, r.changed, r.clock.Now())
	return lease, open
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease == nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// move takes the step that was decided, as Elector.follow does.
func (r *rivalry) move(t *rapid.T) {
	if r.step == nil {
		return
	}
	step, ctx := *r.step, context.Background()
	r.step = nil
	before, open := r.open(t)
	switch step.Move {
	case election.Take, election.Claim:
		_, _ = r.elector.take(ctx, step)
	case election.Renew:
		_ = r.elector.renew(ctx, step.On)
	case election.Yield:
		r.elector.deposed()
		_ = r.elector.release(ctx)
	case election.Stop:
		r.elector.deposed()
	case election.Wait:
	}
	after := r.lease(t)
	if holderOf(before) != "me" && holderOf(after) == "me" && !open {
		t.Fatalf("it took the Lease from %q before that expired, by %s", holderOf(before), step.Move)
	}
	if holderOf(before) == "other" && holderOf(after) == "" {
		t.Fatalf("it gave the Lease of another one up, by %s", step.Move)
	}
}

// However late the watch shows what others write, and whatever happens between a decision and its
// write, an instance does not lead while another one has taken the Lease after it expired, takes it
// from none before that, and gives up none but its own.
func TestElector_NeverLeadsBesideAnotherHolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRivalry(t)
		alone := func(t *rapid.T) {
			if holder := holderOf(r.lease(t)); holder == "other" && r.elector.leading() == nil {
				t.Fatalf("it leads while %q has the Lease, since %v", holder, r.clock.Since(r.changed))
			}
		}
		electiontest.Play(t, alone, map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				r.clock.Step(time.Duration(rapid.IntRange(1, 8_000).Draw(t, "ms")) * time.Millisecond)
			},
			"a Lease runs out": func(t *rapid.T) {
				r.clock.Step(election.LeaseDuration + time.Duration(rapid.IntRange(-500, 500).Draw(t, "ms"))*time.Millisecond)
			},
			"it is elected and leads": func(t *rapid.T) {
				if lease, open := r.open(t); open {
					r.write(t, election.Apply(election.Write{On: lease, Holder: "me", Strategy: election.Oldest}, election.Author{Coordinator: "c", Namespace: "ns", Lease: "l"}, r.clock.Now()))
				}
				r.elector.see(r.lease(t))
				step := r.elector.next()
				r.step = &step
				r.move(t)
			},
			"the watch shows a version": func(t *rapid.T) {
				if r.lease(t); len(r.versions) > 0 {
					r.elector.see(rapid.SampledFrom(r.versions).Draw(t, "version").DeepCopy())
				}
			},
			"the watch catches up": func(t *rapid.T) {
				if lease := r.lease(t); lease != nil {
					r.elector.see(lease)
				}
			},
			"it decides": func(*rapid.T) {
				step := r.elector.next()
				r.step = &step
			},
			"it moves": r.move,
			"it decides and moves": func(t *rapid.T) {
				step := r.elector.next()
				r.step = &step
				r.move(t)
			},
			"a coordinator elects it": func(t *rapid.T) {
				if lease, open := r.open(t); open {
					r.write(t, election.Apply(election.Write{On: lease, Holder: "me", Strategy: election.Oldest}, election.Author{Coordinator: "c", Namespace: "ns", Lease: "l"}, r.clock.Now()))
				}
			},
			"another one takes the Lease": func(t *rapid.T) {
				if lease, open := r.open(t); open {
					r.write(t, election.Claimed(lease, "ns", "l", "other", election.Oldest, election.Timing{LeaseDuration: election.LeaseDuration}, r.clock.Now()))
				}
			},
			"it is told to give way": func(t *rapid.T) {
				if lease := r.lease(t); lease != nil {
					lease.Spec.PreferredHolder = ptr.To("other")
					r.write(t, lease)
				}
			},
			"a client writes odd fields": func(t *rapid.T) {
				if lease := r.lease(t); lease != nil {
					lease.Spec.RenewTime, lease.Spec.AcquireTime = nil, nil
					lease.Spec.LeaseTransitions = rapid.SampledFrom([]*int32{nil, ptr.To[int32](1<<31 - 1)}).Draw(t, "transitions")
					lease.Spec.Strategy = rapid.SampledFrom([]*coordinationv1.CoordinatedLeaseStrategy{nil, ptr.To(election.NoCoordination), ptr.To[coordinationv1.CoordinatedLeaseStrategy]("x")}).Draw(t, "strategy")
					r.write(t, lease)
				}
			},
		})
	})
}

// Versions of one object are ordered: of two numbers at most one is later, and what is no number is
// never taken for an older version, so that nothing new is overlooked.
func FuzzLater(f *testing.F) {
	f.Add("1", "2")
	f.Add("", "1")
	f.Add("18446744073709551616", "-1")
	f.Add("007", "7")
	f.Fuzz(func(t *testing.T, a, b string) {
		number := func(s string) bool {
			_, err := strconv.ParseUint(s, 10, 64)
			return err == nil
		}
		switch one, other := later(a, b), later(b, a); {
		case number(a) && number(b) && one && other:
			t.Errorf("%q and %q are later than each other", a, b)
		case !(number(a) && number(b)) && !(one && other):
			t.Errorf("%q or %q is no number, and is taken for an older version", a, b)
		}
	})
}

// Whatever the watch shows of a Lease, the instance decides without a panic, and a move other than
// to wait is about the Lease that it was shown.
func FuzzSee(f *testing.F) {
	f.Add(uint8(0xff), "me", "other", "OldestEmulationVersion", int32(-1), int32(-1), "1", "x")
	f.Add(uint8(0), "", "", "", int32(0), int32(0), "", "")
	f.Add(uint8(0x1f), "me", "me", "NoCoordination", int32(1<<31-1), int32(1<<31-1), "18446744073709551616", "u")
	f.Fuzz(func(t *testing.T, there uint8, holder, preferred, strategy string, seconds, transitions int32, version, uid string) {
		clock := clocktesting.NewFakeClock(time.Now())
		client := electiontest.NewServer()
		e, err := New(Options{Client: client, Namespace: "ns", Lease: "l", Name: "me", BinaryVersion: "1.2.0", Clock: clock, Lead: func(context.Context, Term) {}})
		if err != nil {
			t.Fatal(err)
		}
		has := func(bit int) bool { return there>>bit&1 == 1 }
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l", ResourceVersion: version}}
		if has(0) {
			lease.Spec.HolderIdentity = &holder
		}
		if has(1) {
			lease.Spec.PreferredHolder = &preferred
		}
		if has(2) {
			lease.Spec.Strategy = ptr.To(coordinationv1.CoordinatedLeaseStrategy(strategy))
		}
		if has(3) {
			lease.Spec.LeaseDurationSeconds = &seconds
		}
		if has(4) {
			lease.Spec.LeaseTransitions = &transitions
		}
		e.see(lease)
		e.see(lease.DeepCopy())
		for range 8 {
			step := e.next()
			if step.On != e.current() {
				t.Fatalf("it decides on another Lease than it knows: %+v", step)
			}
			if step.Within < 0 {
				t.Fatalf("it looks again %v ago", -step.Within)
			}
			if may(step) {
				_, _ = e.take(t.Context(), step) // the server has no such Lease
			}
			clock.Step(7 * time.Second)
		}
		e.gone()
		if step := e.next(); step.On != nil {
			t.Fatalf("it goes by a Lease that is gone: %+v", step)
		}
	})
}
