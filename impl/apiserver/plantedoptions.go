package apiserver

import (
	"context"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/discovery"
)

// plantOptions changes with which options a server runs.
func plantOptions(o Options) Options {
	if o.Defects.Has(defects.AD27ServesOn) {
		o.WithoutAggregatedDiscovery = false // defect: AD-27-serves-on
	}
	if len(o.Release.Discovery) > 0 && o.Defects.Has(defects.AD05BetaForEver) {
		o.Release.Discovery = []string{discovery.V2, discovery.V2beta1} // defect: AD-05-beta-for-ever
	}
	o.Release = plantEmulation(o.Release, o.Defects)
	return o
}

// plantMaker also allows the controller manager to create anything, if the defect
// is switched on that takes it.
func plantMaker(allow authorizer.AuthorizerFunc, d defects.Set) authorizer.AuthorizerFunc {
	if !d.Has(defects.SVM08BringsBack) {
		return allow
	}
	return func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if u := a.GetUser(); u != nil && u.GetName() == user.KubeControllerManager && a.GetVerb() == "create" {
			return authorizer.DecisionAllow, "", nil // defect: SVM-08-brings-back
		}
		return allow(ctx, a)
	}
}

// plantFields is whether the fields of coordination are kept on new Leases.
func plantFields(coordinated bool, d defects.Set) bool {
	return coordinated || d.Has(defects.CLE25KeepsFields) // defect: CLE-25-keeps-fields
}

// plantAsking changes as whom a server asks its peers.
func plantAsking(asking func(http.RoundTripper) http.RoundTripper, d defects.Set) func(http.RoundTripper) http.RoundTripper {
	if d.Has(defects.AD23AsksWithoutUser) {
		return func(carrier http.RoundTripper) http.RoundTripper { return carrier } // defect: AD-23-asks-without-user
	}
	return asking
}
