package apiserver

import (
	"net/http"

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

// plantAsking changes as whom a server asks its peers.
func plantAsking(asking func(http.RoundTripper) http.RoundTripper, d defects.Set) func(http.RoundTripper) http.RoundTripper {
	if d.Has(defects.AD23AsksWithoutUser) {
		return func(carrier http.RoundTripper) http.RoundTripper { return carrier } // defect: AD-23-asks-without-user
	}
	return asking
}
