package apiserver

import (
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// plantStorageVersionRules has the rules of StorageVersions and of their status overlook what the
// defects do.
func plantStorageVersionRules(object, status *registry.Rules, d defects.Set) {
	if len(d) == 0 {
		return
	}
	name, content := storageversion.PlantValidateName(d), storageversion.PlantValidateStatus(d)
	object.Validate = func(obj runtime.Object) field.ErrorList {
		return name(obj.(*apiserverinternalv1alpha1.StorageVersion).Name)
	}
	status.Validate = func(obj runtime.Object) field.ErrorList {
		return content(&obj.(*apiserverinternalv1alpha1.StorageVersion).Status)
	}
}

// plantView has a store show StorageVersions otherwise than they are stored.
func plantView(store *registry.Store, d defects.Set) {
	if view := storageversion.NewView(d); view.Wanted() {
		store.Decorator = view.Decorate
	}
}
