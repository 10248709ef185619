package discovery

import (
	"testing"
)

func TestPromisedForms(t *testing.T) {
	const (
		json    = "application/json"
		v2      = askedJSON
		beta    = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
		future  = "application/json;g=apidiscovery.k8s.io;v=v97;as=APIGroupDiscoveryList"
		yaml    = "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		foreign = "application/json;g=example.com;v=v2;as=APIGroupDiscoveryList"
		other   = "application/json;g=apidiscovery.k8s.io;v=v2;as=Unheard"
	)
	both := []string{currentVersion, betaVersion}
	for _, tc := range []struct {
		accept  string
		offered []string
		want    string // what the option prints as; empty if nothing can be served
		wild    bool
	}{
		{"", both, ", not aggregated", true},
		{"*/*", both, "*/*, not aggregated", true},
		{json, both, "application/json, not aggregated", false},
		{v2, both, "application/json, aggregated v2", false},
		{yaml + "," + v2, both, "application/yaml, aggregated v2", false},
		{beta + "," + v2, both, "application/json, aggregated v2beta1", false},
		{beta + "," + v2, both[:1], "application/json, aggregated v2", false},
		{beta + "," + json, both[:1], "application/json, not aggregated", false},
		{beta, both[:1], "", false},
		{future, both, "", false},
		{foreign, both, "", false},
		{other, both, "", false},
		{"text/html", both, "", false},
		{"text/html," + v2, both, "application/json, aggregated v2", false},
		{json + "," + v2, both, "application/json, not aggregated", false},
		{json + ";q=0.1," + v2 + ";q=0.9", both, "application/json, aggregated v2", false},
		{v2 + ";q=0.1," + json, both, "application/json, not aggregated", false},
		{v2 + ";q=0," + json, both, "application/json, not aggregated", false},
		{v2 + ";q=0", both, "", false},
		{"; nonsense," + json, both, "application/json, not aggregated", false},
		{v2 + ";profile=nopeer", both, "application/json, aggregated v2", false},
	} {
		var got option
		supported := supportedIn(parseAccept(tc.accept), tc.offered)
		ok := len(supported) > 0
		if ok {
			got = supported[0]
		}
		if ok != (tc.want != "") || ok && (got.String() != tc.want || got.wild != tc.wild) {
			t.Errorf("%q with %v: %s (wild %v) %v, want %q", tc.accept, tc.offered, got, got.wild, ok, tc.want)
		}
	}
}

func TestFormOfAnAnswer(t *testing.T) {
	for _, tc := range []struct {
		contentType string
		want        form
		ok          bool
	}{
		{"application/json", form{"application/json", ""}, true},
		{askedJSON, form{"application/json", "v2"}, true},
		{"application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", form{"application/vnd.kubernetes.protobuf", "v2beta1"}, true},
		{"application/json;g=apidiscovery.k8s.io;v=v2;as=Unheard", form{}, false},
		{"text/plain", form{}, false},
		{"", form{}, false},
	} {
		if got, ok := formOf(tc.contentType); got != tc.want || ok != tc.ok {
			t.Errorf("%q: %v %v", tc.contentType, got, ok)
		}
	}
}
