package controllermanager

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/evenkeel/evenkeel/impl/defects"
)

const (
	// endsAfter and endsIdleAfter are how long after its start RO-03 ends a process.
	endsAfter, endsIdleAfter = 20 * time.Second, 15 * time.Second
	// worksFirst is how long RO-05 lets a leader work.
	worksFirst = 5 * time.Second
	// separate is the release whose instances use a Lease of their own in RO-10.
	separate = "1.3"
)

var (
	errEnds = errors.New("the process ends by itself")
	errIdle = errors.New("the leader does not work now")
)

// endByItself runs until the process ends by itself.
func (m *ControllerManager) endByItself(ctx context.Context) error {
	var over <-chan time.Time
	switch {
	case m.options.Defects.Has(defects.RO03EndsItself):
		over = m.options.Clock.After(endsAfter) // defect: RO-03-ends-itself
	case m.options.Defects.Has(defects.RO03EndsIdle):
		over = m.options.Clock.After(endsIdleAfter) // defect: RO-03-ends-idle
	}
	ended := make(chan error, 1)
	go func() { ended <- m.run(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-over:
		}
		if m.options.Defects.Has(defects.RO03EndsItself) {
			return errEnds
		}
		if !m.led.Load() {
			return nil
		}
	}
}

// leadingBy is why an instance without coordination does not lead: by its lock, or by what
// client-go's elector believes.
func (m *ControllerManager) leadingBy(elector *leaderelection.LeaderElector, soundly func() error) func() error {
	if m.options.Defects.Has(defects.CLE18TakesFromLegacy) {
		return func() error { return elector.Check(0) } // defect: CLE-18-takes-from-legacy
	}
	return soundly
}

// mayAct is whether a leader may leave evidence of its work now, for one that has led since
// it is called.
func (m *ControllerManager) mayAct(leading func() error) func() error {
	d, since := m.options.Defects, m.options.Clock.Now()
	return func() error {
		led := m.options.Clock.Since(since)
		if led > worksFirst && (d.Has(defects.RO05OnlyRenews) || d.Has(defects.RO05Pauses) && led < worksFirst+d.Delay(defects.RO05Pauses)) {
			return errIdle // defect: RO-05-only-renews, RO-05-pauses
		}
		return leading()
	}
}

// leaseOf is the Lease by which an instance leads, of one that has a name.
func (m *ControllerManager) leaseOf(name string) string {
	if name == LeaseName && m.options.Defects.Has(defects.RO10OtherLease) && m.options.Release == separate {
		return name + "-" + separate // defect: RO-10-other-lease
	}
	return name
}
