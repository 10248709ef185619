package scheme

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// addCandidates adds the candidates for leadership, which the published API has in
// two versions with the same fields, and in none in which it has Leases. v1beta1 is
// the form in memory and in storage.
func addCandidates(scheme *runtime.Scheme) {
	beta, alpha := coordinationv1beta1.SchemeGroupVersion, coordinationv1alpha2.SchemeGroupVersion
	kinds := []runtime.Object{&coordinationv1beta1.LeaseCandidate{}, &coordinationv1beta1.LeaseCandidateList{}}
	scheme.AddKnownTypes(beta, kinds...)
	scheme.AddKnownTypes(schema.GroupVersion{Group: beta.Group, Version: runtime.APIVersionInternal}, kinds...)
	scheme.AddKnownTypes(alpha, &coordinationv1alpha2.LeaseCandidate{}, &coordinationv1alpha2.LeaseCandidateList{})
	metav1.AddToGroupVersion(scheme, beta)
	metav1.AddToGroupVersion(scheme, alpha)
	utilruntime.Must(scheme.SetVersionPriority(coordinationv1.SchemeGroupVersion, beta, alpha))

	convert(scheme, func(in *coordinationv1alpha2.LeaseCandidate, out *coordinationv1beta1.LeaseCandidate) {
		candidateToV1beta1(in, out)
	})
	convert(scheme, func(in *coordinationv1beta1.LeaseCandidate, out *coordinationv1alpha2.LeaseCandidate) {
		candidateToV1alpha2(in, out)
	})
	convert(scheme, func(in *coordinationv1alpha2.LeaseCandidateList, out *coordinationv1beta1.LeaseCandidateList) {
		out.ListMeta = in.ListMeta
		out.Items = make([]coordinationv1beta1.LeaseCandidate, len(in.Items))
		for i := range in.Items {
			candidateToV1beta1(&in.Items[i], &out.Items[i])
		}
	})
	convert(scheme, func(in *coordinationv1beta1.LeaseCandidateList, out *coordinationv1alpha2.LeaseCandidateList) {
		out.ListMeta = in.ListMeta
		out.Items = make([]coordinationv1alpha2.LeaseCandidate, len(in.Items))
		for i := range in.Items {
			candidateToV1alpha2(&in.Items[i], &out.Items[i])
		}
	})
}

func candidateToV1beta1(in *coordinationv1alpha2.LeaseCandidate, out *coordinationv1beta1.LeaseCandidate) {
	out.ObjectMeta = in.ObjectMeta
	out.Spec = coordinationv1beta1.LeaseCandidateSpec(in.Spec)
}

func candidateToV1alpha2(in *coordinationv1beta1.LeaseCandidate, out *coordinationv1alpha2.LeaseCandidate) {
	out.ObjectMeta = in.ObjectMeta
	out.Spec = coordinationv1alpha2.LeaseCandidateSpec(in.Spec)
}
