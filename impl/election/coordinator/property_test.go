package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	leaselisters "k8s.io/client-go/listers/coordination/v1"
	candidatelisters "k8s.io/client-go/listers/coordination/v1beta1"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/electiontest"
)

// world is a server, what the coordinator's informers show of it, and the coordinator.
type world struct {
	client             *fake.Clientset
	clock              *clocktesting.FakeClock
	leases, candidates cache.Indexer
	shift              *shift
	leads              bool
	// changed is when the Lease on the server changed last.
	changed time.Time
	version string
}

func newWorld() *world {
	indexer := func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	w := &world{client: electiontest.NewServer(), clock: clocktesting.NewFakeClock(time.Now()), leases: indexer(), candidates: indexer(), leads: true}
	o := Options{Identity: "c_1", Clock: w.clock}
	o.complete()
	w.shift = newShift(w.client, o, func() error {
		if !w.leads {
			return errors.New("another one coordinates")
		}
		return nil
	})
	w.shift.leases, w.shift.candidates = leaselisters.NewLeaseLister(w.leases), candidatelisters.NewLeaseCandidateLister(w.candidates)
	return w
}

// lease is what the server has; nil for none.
func (w *world) lease(t *rapid.T) *coordinationv1.Lease {
	list, err := w.client.CoordinationV1().Leases("ns").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var now *coordinationv1.Lease
	version := ""
	if len(list.Items) > 0 {
		now = &list.Items[0]
		version = now.ResourceVersion
	}
	if version != w.version {
		w.version, w.changed = version, w.clock.Now()
	}
	return now
}

func (w *world) all(t *rapid.T) []election.Candidate {
	list, err := w.client.CoordinationV1beta1().LeaseCandidates("ns").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// sync has the informers show what the server has.
func (w *world) sync(t *rapid.T) {
	var leases, candidates []any
	if lease := w.lease(t); lease != nil {
		leases = append(leases, lease)
	}
	all := w.all(t)
	for i := range all {
		candidates = append(candidates, &all[i])
	}
	if err := errors.Join(w.leases.Replace(leases, ""), w.candidates.Replace(candidates, "")); err != nil {
		t.Fatal(err)
	}
}

// shown is the version of the Lease that the informers show.
func (w *world) shown() string {
	for _, obj := range w.leases.List() {
		return obj.(*coordinationv1.Lease).ResourceVersion
	}
	return ""
}

var (
	oddVersions   = rapid.SampledFrom([]string{"", "1.2.0", "1.3.0", "v1", "1.99999999999999999999.0", "x"})
	oddStrategies = rapid.SampledFrom([]coordinationv1.CoordinatedLeaseStrategy{"", election.Oldest, election.Newest, election.NoCoordination, "example.com/x"})
	oddSeconds    = rapid.SampledFrom([]*int32{nil, ptr.To[int32](-1), ptr.To[int32](0), ptr.To[int32](10), ptr.To[int32](15), ptr.To[int32](3600)})
	holders       = rapid.SampledFrom([]*string{nil, ptr.To(""), ptr.To("c0"), ptr.To("c1"), ptr.To("stranger")})
)

// oddLease is any content that a client may write.
func oddLease(t *rapid.T) coordinationv1.LeaseSpec {
	spec := coordinationv1.LeaseSpec{HolderIdentity: holders.Draw(t, "holder"), PreferredHolder: holders.Draw(t, "preferred"), LeaseDurationSeconds: oddSeconds.Draw(t, "seconds")}
	if strategy := oddStrategies.Draw(t, "strategy"); strategy != "" {
		spec.Strategy = ptr.To(strategy)
	}
	spec.LeaseTransitions = rapid.SampledFrom([]*int32{nil, ptr.To[int32](0), ptr.To[int32](1<<31 - 1)}).Draw(t, "transitions")
	return spec
}

func lasts(lease *coordinationv1.Lease) time.Duration {
	if seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return election.OddDuration
}

// process has the coordinator look at the Lease, and holds what it wrote against its contract.
func (w *world) process(t *rapid.T) {
	before, stale := w.lease(t), false
	version := ""
	if before != nil {
		version = before.ResourceVersion
	}
	stale = w.shown() != version
	changed, candidates := w.changed, w.all(t)
	_, err := w.shift.process(context.Background(), types.NamespacedName{Namespace: "ns", Name: "l"})
	after := w.lease(t)
	written := w.version != version
	switch {
	case !w.leads && (written || fmt.Sprint(candidates) != fmt.Sprint(w.all(t))):
		t.Fatalf("it wrote while another one coordinates: %+v", after)
	case stale && written:
		t.Fatalf("it wrote a Lease that it did not see: %+v, %v", after, err)
	case len(w.candidates.List()) == 0 && (written || len(w.shift.memory.leases) > 0):
		t.Fatalf("a Lease without candidates was written or is remembered: %+v", after)
	case len(w.shift.memory.leases) > 1:
		t.Fatalf("it remembers %d Leases", len(w.shift.memory.leases))
	case written && after == nil:
		t.Fatal("it deleted the Lease")
	case written:
		w.elected(t, before, after, changed, candidates)
	}
}

// elected holds a write of the coordinator against what it was made on.
func (w *world) elected(t *rapid.T, before, after *coordinationv1.Lease, changed time.Time, candidates []election.Candidate) {
	had, has := "", ptr.Deref(after.Spec.HolderIdentity, "")
	if before != nil {
		had = ptr.Deref(before.Spec.HolderIdentity, "")
	}
	if had != "" && had != has && w.clock.Now().Before(changed.Add(lasts(before))) {
		t.Fatalf("%q lost the Lease %v after it changed, and it lasts %v: %+v", had, w.clock.Since(changed), lasts(before), after)
	}
	if has != "" && had != has && !slices.ContainsFunc(candidates, func(c election.Candidate) bool { return c.Name == has }) {
		t.Fatalf("%q was elected, and is no candidate", has)
	}
}

// Whatever clients write to a Lease and its candidates, and however late the informers show it, the
// coordinator takes a Lease from no holder before it has expired, and writes only what it has seen and
// only while it coordinates.
func TestShift_KeepsItsContractWhateverItIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		ctx := context.Background()
		leases, candidates := w.client.CoordinationV1().Leases("ns"), w.client.CoordinationV1beta1().LeaseCandidates("ns")
		name := func(t *rapid.T) string { return rapid.SampledFrom([]string{"c0", "c1", "c2"}).Draw(t, "name") }
		electiontest.Play(t, func(*rapid.T) {}, map[string]func(*rapid.T){
			"a candidate comes": func(t *rapid.T) {
				c := electiontest.Candidate("ns", name(t), rapid.SampledFrom([]string{"l", "l", "other"}).Draw(t, "lease"), "1.2.0")
				c.Spec.BinaryVersion, c.Spec.EmulationVersion, c.Spec.Strategy = oddVersions.Draw(t, "binary"), oddVersions.Draw(t, "emulation"), oddStrategies.Draw(t, "strategy")
				c.Spec.RenewTime = ptr.To(metav1.NewMicroTime(w.clock.Now().Add(time.Duration(rapid.IntRange(-40, 40).Draw(t, "minutes")) * time.Minute)))
				if rapid.Bool().Draw(t, "without times") {
					c.Spec.RenewTime = nil
				}
				_, _ = candidates.Create(ctx, c, metav1.CreateOptions{}) // there may be one
			},
			"a candidate answers": func(t *rapid.T) {
				if c, err := candidates.Get(ctx, name(t), metav1.GetOptions{}); err == nil {
					c.Spec.RenewTime = ptr.To(election.RenewTime(c, w.clock.Now()))
					_, _ = candidates.Update(ctx, c, metav1.UpdateOptions{})
				}
			},
			"a candidate goes": func(t *rapid.T) { _ = candidates.Delete(ctx, name(t), metav1.DeleteOptions{}) },
			"the holder renews": func(t *rapid.T) {
				if lease := w.lease(t); lease != nil {
					_, _ = leases.Update(ctx, election.Renewed(lease, election.Timing{LeaseDuration: election.LeaseDuration}, w.clock.Now()), metav1.UpdateOptions{})
				}
				w.lease(t)
			},
			"a client writes the Lease": func(t *rapid.T) {
				lease := w.lease(t)
				if lease == nil {
					_, _ = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l"}, Spec: oddLease(t)}, metav1.CreateOptions{})
				} else {
					lease.Spec = oddLease(t)
					_, _ = leases.Update(ctx, lease, metav1.UpdateOptions{})
				}
				w.lease(t)
			},
			"a client deletes the Lease": func(t *rapid.T) {
				_ = leases.Delete(ctx, "l", metav1.DeleteOptions{})
				w.lease(t)
			},
			"time passes": func(t *rapid.T) {
				w.clock.Step(time.Duration(rapid.IntRange(1, 20_000).Draw(t, "ms")) * time.Millisecond)
			},
			"the informers catch up": func(t *rapid.T) { w.sync(t) },
			"it loses or wins":       func(*rapid.T) { w.leads = !w.leads },
			"it looks":               w.process,
			"it sees and looks": func(t *rapid.T) {
				w.sync(t)
				w.process(t)
			},
			"a candidate is well, and it coordinates": func(t *rapid.T) {
				w.leads = true
				well := electiontest.Candidate("ns", name(t), "l", "1.2.0")
				_ = candidates.Delete(ctx, well.Name, metav1.DeleteOptions{})
				_, _ = candidates.Create(ctx, well, metav1.CreateOptions{})
				for range 3 {
					w.sync(t)
					w.process(t)
					for _, c := range w.all(t) {
						if election.Owes(&c) && c.Name == well.Name {
							c.Spec.RenewTime = ptr.To(election.RenewTime(&c, w.clock.Now()))
							_, _ = candidates.Update(ctx, &c, metav1.UpdateOptions{})
						}
					}
				}
			},
		})
	})
}
