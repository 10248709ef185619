package controllermanager

import (
	"context"
	"errors"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/storageversion"
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

// late is for how long a decision about an object has to wait yet.
func (c *collector) late(sv *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection) time.Duration {
	before, after := &sv.Status, &decision.Status
	var put defects.ID
	switch {
	case decision.Action == storageversion.Keep:
		c.waits.Done(sv.Name)
		return 0
	case len(before.StorageVersions) == 0:
		put = defects.SV18DeletesLate // defect: SV-18-deletes-late
	case len(after.StorageVersions) < len(before.StorageVersions):
		put = defects.SV16CollectsLate // defect: SV-16-collects-late
	case before.CommonEncodingVersion != nil && after.CommonEncodingVersion == nil:
		put = defects.SV08ReactsLate // defect: SV-08-reacts-late
	case before.CommonEncodingVersion == nil && after.CommonEncodingVersion != nil:
		put = defects.SV06AgreesLate // defect: SV-06-agrees-late
	}
	left := c.waits.Left(sv.Name, c.clock.Now(), c.defects.Delay(put))
	if left == 0 {
		c.waits.Done(sv.Name)
	}
	return left
}

// emptiesFirst has an object that is to be deleted lose its entries before.
func (c *collector) emptiesFirst(sv *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection) storageversion.Collection {
	if decision.Action == storageversion.Delete && len(sv.Status.StorageVersions) > 0 && c.defects.Has(defects.SV18DeletesLate) {
		return storageversion.Collection{Action: storageversion.Update} // defect: SV-18-deletes-late
	}
	return decision
}
