package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Versions of the aggregated document.
const (
	V2      = "v2"
	V2beta1 = "v2beta1"
)

// listKind is the kind of the aggregated document in every version.
const listKind = "APIGroupDiscoveryList"

// mediaTypes are what every document can be encoded in; the first is what a
// client gets that has no preference.
var mediaTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf}

// versions are the versions of the aggregated document that this package can
// encode. A server offers all of them or fewer.
var versions = []string{apidiscoveryv2.SchemeGroupVersion.Version, apidiscoveryv2beta1.SchemeGroupVersion.Version}

// Form is what a client is answered with.
type Form struct {
	// Version of the aggregated document; empty for the one that is not.
	Version string
	// MediaType is the encoding, one of JSON, YAML and protobuf.
	MediaType string
	// Scope is what the document lists. It is a matter of content, not of form.
	Scope Scope
}

// Scope is how much of the cluster an aggregated document lists. Clients request it
// as the profile of a form.
type Scope string

const (
	// Everything that requests to this server can reach.
	Everything Scope = ""
	// WithoutPeers leaves out what this server has its peers answer for. It is
	// KEP-4020's name for the local view.
	WithoutPeers Scope = "nopeer"
	// BuiltinOnly also leaves out custom resources and aggregated servers, which
	// all members of a control plane have in common. It is what members ask each
	// other for, so that none keeps a group alive that is gone from etcd.
	BuiltinOnly Scope = "builtin"
)

// Aggregated reports whether the form is one of the aggregated document.
func (f Form) Aggregated() bool { return f.Version != "" }

// ContentType is the header that announces the form.
func (f Form) ContentType() string {
	if !f.Aggregated() {
		return f.MediaType
	}
	return f.MediaType + ";g=" + apidiscoveryv2.GroupName + ";v=" + f.Version + ";as=" + listKind
}
