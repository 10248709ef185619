package discovery

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	apidiscoveryv2conversion "k8s.io/apiserver/pkg/apis/apidiscovery/v2"
	"sigs.k8s.io/yaml"
)

// known has the kinds of the aggregated document and, as every API does, those
// of the document that is not.
var known = newScheme()

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(apidiscoveryv2.AddToScheme(scheme))
	utilruntime.Must(apidiscoveryv2beta1.AddToScheme(scheme))
	utilruntime.Must(apidiscoveryv2conversion.RegisterConversions(scheme))
	metav1.AddToGroupVersion(scheme, plainVersion)
	scheme.AddUnversionedTypes(plainVersion,
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return scheme
}

var toProtobuf = protobuf.NewSerializer(known, known)

// listOf is the document of some groups, complete with the name of its kind.
// KEP-3352: the list has no resourceVersion, because servers have no common
// order of changes.
func listOf(groups []apidiscoveryv2.APIGroupDiscovery) *apidiscoveryv2.APIGroupDiscoveryList {
	if groups == nil {
		groups = []apidiscoveryv2.APIGroupDiscovery{}
	}
	return &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: apidiscoveryv2.SchemeGroupVersion.String(), Kind: listKind},
		Items:    groups,
	}
}

// encode writes a list in a version and encoding.
func encode(list *apidiscoveryv2.APIGroupDiscoveryList, form Form) ([]byte, error) {
	object, err := inVersion(list, form.Version)
	if err != nil {
		return nil, err
	}
	switch form.MediaType {
	case runtime.ContentTypeJSON:
		return encodeJSON(object)
	case runtime.ContentTypeYAML:
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		return yaml.JSONToYAML(raw)
	case runtime.ContentTypeProtobuf:
		return runtime.Encode(toProtobuf, object)
	default:
		return nil, fmt.Errorf("discovery has no encoding %q", form.MediaType)
	}
}

func encodeJSON(object runtime.Object) ([]byte, error) {
	raw, err := json.Marshal(object)
	return append(raw, '\n'), err
}

// inVersion is the list as an object of a version.
func inVersion(list *apidiscoveryv2.APIGroupDiscoveryList, version string) (runtime.Object, error) {
	switch version {
	case V2:
		return list, nil
	case V2beta1:
		beta := &apidiscoveryv2beta1.APIGroupDiscoveryList{}
		if err := known.Convert(list, beta, nil); err != nil {
			return nil, err
		}
		beta.TypeMeta = metav1.TypeMeta{APIVersion: apidiscoveryv2beta1.SchemeGroupVersion.String(), Kind: listKind}
		return beta, nil
	default:
		return nil, fmt.Errorf("discovery has no version %q", version)
	}
}

// compress writes bytes in gzip. It runs once for each document, so it uses a higher
// level than a compression for each request would.
func compress(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(plain); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(out.Bytes()), nil
}
