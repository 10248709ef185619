package discovery

import apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

func isStale(version apidiscoveryv2.APIVersionDiscovery) bool {
	return version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale
}
