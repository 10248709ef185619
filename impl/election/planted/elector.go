package planted

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election/candidacy"
	"github.com/evenkeel/evenkeel/impl/election/fence"
)

const (
	// wrongVersion is what CLE-01-wrong-version declares.
	wrongVersion = "1.0.0"
	// withdrawRetry is the pause after a candidate could not be withdrawn.
	withdrawRetry = time.Second
)

// Elector is an instance with the defects of a set. Its health is that of the elector.
type Elector struct {
	*candidacy.Elector
	options candidacy.Options
	defects defects.Set
	// late is set while the elector has to end, since it could not renew in time.
	mu   sync.Mutex
	late func()
}

// New makes an Elector.
func New(o candidacy.Options, d defects.Set) (*Elector, error) {
	e := &Elector{defects: d}
	o.Next, o.Due = Next(d), Due(d)
	lead, version := o.Lead, o.BinaryVersion
	if d.Has(defects.CLE01WrongVersion) {
		o.BinaryVersion, o.EmulationVersion = wrongVersion, wrongVersion // defect: CLE-01-wrong-version
	}
	o.KeepLease = o.KeepLease || d.Has(defects.CLE33KeepsTheLease) // defect: CLE-33-keeps-the-lease
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Lead = func(ctx context.Context, term candidacy.Term) {
		term.Version = version
		e.lead(ctx, term, lead)
		if errors.Is(context.Cause(ctx), candidacy.ErrNotRenewed) {
			e.lost()
		}
	}
	e.options = o
	elector, err := candidacy.New(o)
	e.Elector = elector
	return e, err
}

// Run takes part until the context ends.
func (e *Elector) Run(ctx context.Context) {
	if !e.pause(ctx, e.defects.Delay(defects.CLE01DeclaresLate)) {
		return // defect: CLE-01-declares-late
	}
	away := e.defects.Delay(defects.CLE12ReturnsLate)
	if away == 0 && !e.defects.Has(defects.CLE12StaysAway) {
		e.Elector.Run(ctx)
		return
	}
	for ctx.Err() == nil {
		running, end := context.WithCancel(ctx)
		e.mu.Lock()
		e.late = end
		e.mu.Unlock()
		e.Elector.Run(running)
		end()
		e.withdraw(ctx)
		if away == 0 {
			<-ctx.Done() // defect: CLE-12-stays-away
		}
		e.pause(ctx, away) // defect: CLE-12-returns-late
	}
}

// lost ends the elector, if that is planted.
func (e *Elector) lost() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.late != nil {
		e.late()
	}
}

// withdraw deletes the candidate as soon as an API server takes the deletion.
func (e *Elector) withdraw(ctx context.Context) {
	candidates := e.options.Client.CoordinationV1beta1().LeaseCandidates(e.options.Namespace)
	for {
		err := candidates.Delete(ctx, e.options.Name, metav1.DeleteOptions{})
		if err == nil || apierrors.IsNotFound(err) || !e.pause(ctx, withdrawRetry) {
			return
		}
	}
}

// pause waits for a while, and is whether the context still goes on.
func (e *Elector) pause(ctx context.Context, long time.Duration) bool {
	if long == 0 {
		return ctx.Err() == nil
	}
	timer := e.options.Clock.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}

const (
	// actsOn is how long an instance with CLE-10-acts-on continues to lead after it has lost
	// the Lease during a pause; stoodStill is the shortest such pause, and look is how often
	// it looks whether there was one.
	actsOn     = 20 * time.Second
	stoodStill = 2 * time.Second
	look       = 200 * time.Millisecond
)

// lead works as the leader. With CLE-10-acts-on it continues in the background after a pause.
func (e *Elector) lead(ctx context.Context, term candidacy.Term, lead func(context.Context, candidacy.Term)) {
	if !e.defects.Has(defects.CLE10ActsOn) {
		lead(ctx, term)
		return
	}
	going, end := context.WithCancel(context.WithoutCancel(ctx))
	var until time.Time
	var mu sync.Mutex
	asked := term.Leading
	term.Leading = func() error {
		mu.Lock()
		defer mu.Unlock()
		if asked() == nil || going.Err() == nil && e.options.Clock.Now().Before(until) {
			return nil // defect: CLE-10-acts-on
		}
		return fence.ErrDeposed
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lead(going, term)
	}()
	still := e.stoodStill(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		until = e.options.Clock.Now().Add(actsOn)
	})
	if !still {
		end()
		<-ended
		return
	}
	go func() {
		defer end()
		e.pause(going, actsOn)
	}()
}

// stoodStill waits for the end of a context, and is whether the process stood still right
// before; noted is called as soon as it knows.
func (e *Elector) stoodStill(ctx context.Context, noted func()) bool {
	last, still := e.options.Clock.Now(), false
	for {
		timer := e.options.Clock.NewTimer(look)
		over := false
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			over = true
		}
		now := e.options.Clock.Now()
		if now.Sub(last) > stoodStill {
			still = true
			noted()
		}
		if last = now; over {
			return still
		}
	}
}
