package controllermanager

import (
	"context"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	internalclient "k8s.io/client-go/kubernetes/typed/apiserverinternal/v1alpha1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// plantCollector changes how a collector decides.
func plantCollector(decide collectorDecisions, clk clock.PassiveClock, d defects.Set) collectorDecisions {
	if len(d) == 0 {
		return decide
	}
	decide.collect = storageversion.PlantCollect(d)
	if d.Has(defects.SV20StripsOnError) {
		decide.participants = func(p storageversion.Participants, err error) (storageversion.Participants, error) {
			if err != nil {
				return storageversion.Participants{}, nil // defect: SV-20-strips-on-error
			}
			return p, nil
		}
	}
	waits := &defects.Waits{}
	decide.putOff = func(sv *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection) (storageversion.Collection, time.Duration) {
		decision = emptiesFirst(sv, decision, d)
		return decision, late(sv, decision, waits, clk.Now(), d)
	}
	soundly := decide.update
	decide.update = func(ctx context.Context, svs internalclient.StorageVersionInterface, sv *apiserverinternalv1alpha1.StorageVersion) error {
		storageversion.Touch(&sv.Status, clk.Now(), d)
		err := soundly(ctx, svs, sv)
		if apierrors.IsConflict(err) && d.Has(defects.SV19UnconditionalUpdate) {
			err = overwrite(context.WithoutCancel(ctx), svs, sv) // defect: SV-19-unconditional-update
		}
		return err
	}
	if d.Has(defects.SV19UnconditionalDelete) {
		decide.precondition = func(*apiserverinternalv1alpha1.StorageVersion) *metav1.Preconditions {
			return nil // defect: SV-19-unconditional-delete
		}
	}
	return decide
}

// overwrite writes a status over whatever others have written since it was read.
func overwrite(ctx context.Context, svs internalclient.StorageVersionInterface, next *apiserverinternalv1alpha1.StorageVersion) error {
	ctx, cancel := context.WithTimeout(ctx, storageversion.RequestTimeout)
	defer cancel()
	newest, err := svs.Get(ctx, next.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	next.UID, next.ResourceVersion = newest.UID, newest.ResourceVersion
	_, err = svs.UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return err
}

// late is for how long a decision about an object has to wait yet.
func late(sv *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection, waits *defects.Waits, now time.Time, d defects.Set) time.Duration {
	before, after := &sv.Status, &decision.Status
	var put defects.ID
	switch {
	case decision.Action == storageversion.Keep:
		waits.Done(sv.Name)
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
	left := waits.Left(sv.Name, now, d.Delay(put))
	if left == 0 {
		waits.Done(sv.Name)
	}
	return left
}

// emptiesFirst has an object that is to be deleted lose its entries before.
func emptiesFirst(sv *apiserverinternalv1alpha1.StorageVersion, decision storageversion.Collection, d defects.Set) storageversion.Collection {
	if decision.Action == storageversion.Delete && len(sv.Status.StorageVersions) > 0 && d.Has(defects.SV18DeletesLate) {
		return storageversion.Collection{Action: storageversion.Update} // defect: SV-18-deletes-late
	}
	return decision
}
