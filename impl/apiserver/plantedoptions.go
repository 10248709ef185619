package apiserver

import (
	"net/http"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// plantOptions changes with which options a server runs.
func plantOptions(o Options) Options {
	if o.Defects.Has(defects.AD27ServesOn) {
		o.WithoutAggregatedDiscovery = false // defect: AD-27-serves-on
	}
	return o
}

// plantAsking changes as whom a server asks its peers.
func plantAsking(asking func(http.RoundTripper) http.RoundTripper, d defects.Set) func(http.RoundTripper) http.RoundTripper {
	if d.Has(defects.AD23AsksWithoutUser) {
		return func(carrier http.RoundTripper) http.RoundTripper { return carrier } // defect: AD-23-asks-without-user
	}
	return asking
}
