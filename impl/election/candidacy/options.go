package candidacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/election"
)

// requestBound is the timeout of a request. Every write has a precondition, so a write
// that takes effect after the timeout does no harm.
const requestBound = 4 * time.Second

// answerRetry is the pause after a candidate could not be written.
const answerRetry = 500 * time.Millisecond

// Options are what an Elector needs to know.
type Options struct {
	// Client reaches the API server.
	Client kubernetes.Interface
	// Namespace and Lease are what the instance wants to lead.
	Namespace, Lease string
	// Name of the candidate, and of the holder when it leads. No two instances may
	// have the same in a namespace.
	Name string
	// BinaryVersion is what the instance is, EmulationVersion what it behaves like;
	// both without a leading v. An empty EmulationVersion is the BinaryVersion.
	BinaryVersion, EmulationVersion string
	// Strategy by which to elect; empty is the oldest version.
	Strategy coordinationv1.CoordinatedLeaseStrategy
	// Timing of the Lease; what is 0 is that of package election.
	Timing election.Timing
	// KeepLease leaves the Lease to expire when the Elector's context ends, rather than release
	// it. The work has ended by then all the same.
	KeepLease bool
	// Lead works as the leader until its context ends, and returns when nothing of
	// the work is left.
	Lead func(ctx context.Context, term Term)
	// Clock has the timers and the times that are written; it defaults to the real one.
	// How long a renewal counts goes by the machine's clock then, see package steady.
	Clock clock.WithTicker
	// Logger defaults to klog's.
	Logger *klog.Logger
	// Next and Due decide; they default to election.Next and election.Due. A harness
	// plants defects by them.
	Next election.Nexter
	Due  election.Duer
}

func (o *Options) complete() error {
	if o.Client == nil || o.Lead == nil {
		return errors.New("options lack Client or Lead")
	}
	if o.Namespace == "" || o.Lease == "" || o.Name == "" || o.BinaryVersion == "" {
		return errors.New("options lack Namespace, Lease, Name or BinaryVersion")
	}
	if o.EmulationVersion == "" {
		o.EmulationVersion = o.BinaryVersion
	}
	if o.Strategy == "" {
		o.Strategy = election.Oldest
	}
	for _, timing := range []struct {
		value   *time.Duration
		usually time.Duration
	}{
		{&o.Timing.LeaseDuration, election.LeaseDuration},
		{&o.Timing.RenewDeadline, election.RenewDeadline},
		{&o.Timing.RetryPeriod, election.RetryPeriod},
		{&o.Timing.FallbackDelay, election.FallbackDelay},
	} {
		if *timing.value == 0 {
			*timing.value = timing.usually
		}
	}
	if t := o.Timing; t.RetryPeriod <= 0 || t.RenewDeadline <= t.RetryPeriod || t.LeaseDuration <= t.RenewDeadline {
		return fmt.Errorf("the retry period (%s) must be shorter than the renew deadline (%s), and that shorter than the lease duration (%s)",
			t.RetryPeriod, t.RenewDeadline, t.LeaseDuration)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Next == nil {
		o.Next = election.Next
	}
	if o.Due == nil {
		o.Due = election.Due
	}
	if o.Logger == nil {
		logger := klog.Background().WithName("candidacy").WithValues("lease", o.Namespace+"/"+o.Lease, "name", o.Name)
		o.Logger = &logger
	}
	return nil
}
