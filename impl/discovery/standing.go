package discovery

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func isStale(version apidiscoveryv2.APIVersionDiscovery) bool {
	return version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale
}

// answer is a server's answer to a request for discovery.
type answer struct {
	// versions are the group-versions in the answer.
	versions map[schema.GroupVersion]apidiscoveryv2.APIVersionDiscovery
	// order is their order in the answer.
	order []schema.GroupVersion
	// asked are the only group-versions that the answer could contain; nil means all.
	asked []schema.GroupVersion
	// tag is the ETag of the answer, if it has one.
	tag string
	// unchanged: nothing is new since the answer with the tag that was sent.
	unchanged bool
}

// covers reports whether the answer says something about a group-version, be it
// that the server does not have it.
func (a answer) covers(version schema.GroupVersion) bool {
	return a.asked == nil || slices.Contains(a.asked, version)
}

// unfetched is how a group-version of an aggregated server is listed before it
// was fetched. KEP-3352: it is "published with an empty resource list and a
// Stale for Freshness to indicate that they have not synced yet".
func unfetched(version schema.GroupVersion) apidiscoveryv2.APIVersionDiscovery {
	return apidiscoveryv2.APIVersionDiscovery{Version: version.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
}

// outdated is how a group-version is listed after a fetch that failed. KEP-3352:
// "If there is high error rate, stale data may be returned because the latest
// data was not able to be fetched": the last known resources stay.
func outdated(known apidiscoveryv2.APIVersionDiscovery) apidiscoveryv2.APIVersionDiscovery {
	known.Freshness = apidiscoveryv2.DiscoveryFreshnessStale
	return known
}

// fetched is how a group-version is listed after its server answered. A server
// that does not list it has no resources in it, and that is no failure.
func fetched(version schema.GroupVersion, a answer) apidiscoveryv2.APIVersionDiscovery {
	if found, ok := a.versions[version]; ok {
		return found
	}
	return apidiscoveryv2.APIVersionDiscovery{Version: version.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
}
