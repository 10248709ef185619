// Package electiontest has an API server for tests, which knows Leases and LeaseCandidates and
// refuses a write whose resourceVersion is not the current one.
package electiontest

import (
	"strconv"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election"
)

// NewServer makes a server that has some objects.
func NewServer(objects ...runtime.Object) *fake.Clientset {
	var revision atomic.Uint64
	stamp := func(o runtime.Object) metav1.Object {
		accessor, _ := meta.Accessor(o)
		accessor.SetResourceVersion(strconv.FormatUint(revision.Add(1), 10))
		return accessor
	}
	for _, o := range objects {
		a := stamp(o)
		a.SetUID(types.UID(a.GetName()))
	}
	c := fake.NewClientset(objects...)
	c.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		made := stamp(a.(clienttesting.CreateAction).GetObject())
		made.SetUID(types.UID(made.GetName() + "-" + made.GetResourceVersion()))
		return false, nil, nil
	})
	c.PrependReactor("update", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		object := a.(clienttesting.UpdateAction).GetObject()
		sent, _ := meta.Accessor(object)
		current, err := c.Tracker().Get(a.GetResource(), a.GetNamespace(), sent.GetName())
		if err != nil {
			return true, nil, err
		}
		if is, _ := meta.Accessor(current); is.GetResourceVersion() != sent.GetResourceVersion() {
			return true, nil, apierrors.NewConflict(a.GetResource().GroupResource(), sent.GetName(), nil)
		}
		stamp(object)
		return false, nil, nil
	})
	return c
}

// Lease is a Lease of 15 seconds that a coordinator has given to a holder.
func Lease(namespace, name, holder string) *coordinationv1.Lease {
	return election.Apply(election.Write{Holder: holder, Strategy: election.Oldest},
		election.Author{Coordinator: "test", Namespace: namespace, Lease: name}, metav1.Now().Time)
}

// Candidate is a candidate that has not renewed yet.
func Candidate(namespace, name, lease, version string) *election.Candidate {
	c := &election.Candidate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.LeaseName, c.Spec.BinaryVersion, c.Spec.EmulationVersion, c.Spec.Strategy = lease, version, version, election.Oldest
	c.Spec.RenewTime = ptr.To(metav1.NowMicro())
	return c
}
