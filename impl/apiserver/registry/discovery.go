package registry

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

// Discovery are the resources of the group discovery.k8s.io. They are served
// because kube-aggregator watches them to learn whether a Service has backends;
// this control plane creates none.
func Discovery() []Rules {
	return []Rules{{
		Resource: discoveryv1.SchemeGroupVersion.WithResource("endpointslices").GroupResource(), Singular: "endpointslice", Namespaced: true,
		New:           func() runtime.Object { return &discoveryv1.EndpointSlice{} },
		NewList:       func() runtime.Object { return &discoveryv1.EndpointSliceList{} },
		ValidName:     apimachineryvalidation.NameIsDNSSubdomain,
		PrepareCreate: func(obj runtime.Object) { obj.(*discoveryv1.EndpointSlice).Generation = 1 },
		PrepareUpdate: func(obj, old runtime.Object) {
			slice, before := obj.(*discoveryv1.EndpointSlice), old.(*discoveryv1.EndpointSlice)
			bumpGeneration(obj, old,
				[]any{slice.AddressType, slice.Endpoints, slice.Ports},
				[]any{before.AddressType, before.Endpoints, before.Ports})
		},
	}}
}
