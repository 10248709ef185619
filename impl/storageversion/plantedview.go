package storageversion

import (
	"sync"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// View is how a server shows StorageVersions to clients. A correct one shows
// what is stored. It exists for a planted defect: hand Decorate to the generic
// registry store of storageversions as its Decorator, and switch the watch cache
// off for that resource, because cached watch events are shared and cannot be
// decorated.
type View struct {
	defects defects.Set

	mu     sync.Mutex
	agreed map[string]string
}

// NewView returns the view of a server with the given defects.
func NewView(d defects.Set) *View {
	return &View{defects: d, agreed: map[string]string{}}
}

// Wanted reports whether the view differs from what is stored, so that a store
// without defects does without a Decorator.
func (v *View) Wanted() bool { return v.defects.Has(defects.SV22StaleView) }

// Decorate changes an object or list that is on its way to a client.
func (v *View) Decorate(obj runtime.Object) {
	if !v.Wanted() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch obj := obj.(type) {
	case *apiserverinternalv1alpha1.StorageVersion:
		v.show(obj)
	case *apiserverinternalv1alpha1.StorageVersionList:
		for i := range obj.Items {
			v.show(&obj.Items[i])
		}
	}
}

func (v *View) show(sv *apiserverinternalv1alpha1.StorageVersion) {
	v.agreed[sv.Name] = StaleAgreement(v.agreed[sv.Name], &sv.Status)
}

// StaleAgreement shows the last agreed version in a status that has none, and
// returns the last agreed version after it. With no agreement so far it leaves
// the status as it is. Only the agreed version is changed, by replacing the
// pointer, so a shallow copy may be passed.
func StaleAgreement(last string, status *apiserverinternalv1alpha1.StorageVersionStatus) string {
	if status.CommonEncodingVersion != nil {
		return *status.CommonEncodingVersion
	}
	if last != "" {
		status.CommonEncodingVersion = &last // defect: SV-22-stale-view
	}
	return last
}
