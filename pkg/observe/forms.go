package observe

import "strings"

// aggregated is how a client asks for the aggregated document of a version.
func aggregated(mediaType, version string) string {
	return mediaType + ";g=apidiscovery.k8s.io;v=" + version + ";as=" + kindAggregated
}

const (
	asJSON     = "application/json"
	asYAML     = "application/yaml"
	asProtobuf = "application/vnd.kubernetes.protobuf"
	// documentVersion is the aggregated document's version that every release has.
	documentVersion = "v2"
	betaVersion     = "v2beta1"
	// unknownVersion is one that no release has.
	unknownVersion = "v97"
)

// askJSON is what single looks ask for.
var askJSON = aggregated(asJSON, documentVersion)

// askProtobuf asks for the same document in protobuf.
var askProtobuf = aggregated(asProtobuf, documentVersion)

// askLocal asks for what the server itself hosts, as KEP-4020 has it.
var askLocal = askJSON + ";profile=nopeer"

// forms are the Accept headers that each thorough look sends. KEP-3352: a client lists the
// types that it accepts in its order of preference, and gets the first one that the server
// supports. So the list has the headers of old, new and unknown clients, and some with an
// unusual order.
var forms = []string{
	"", "*/*", asJSON,
	aggregated(asYAML, documentVersion), askProtobuf, askLocal,
	// Clients as they are: of today, of yesterday, of the first days.
	join(askJSON, asJSON),
	join(askJSON, aggregated(asJSON, betaVersion), asJSON),
	join(aggregated(asJSON, betaVersion), asJSON),
	aggregated(asJSON, betaVersion),
	join(aggregated(asJSON, betaVersion), askJSON),
	// Clients of tomorrow, with and without something to fall back on.
	aggregated(asJSON, unknownVersion),
	join(aggregated(asJSON, unknownVersion), asJSON),
	join(aggregated(asJSON, unknownVersion), askJSON, asJSON),
	asJSON + ";g=example.com;v=v2;as=" + kindAggregated,
	asJSON + ";g=apidiscovery.k8s.io;v=v2;as=Unheard",
	"text/html",
	join("text/html", askJSON),
	// Clients that prefer the document that is not aggregated.
	join(asJSON, askJSON),
	join(askJSON+";q=0.1", asJSON+";q=0.9"),
	join(asJSON+";q=0.1", askJSON+";q=0.9"),
}

func join(options ...string) string { return strings.Join(options, ",") }

// conditions are the values of If-None-Match that are tried when the document
// has a tag and had another one before, both with their quotes; the second may be
// empty.
func conditions(tag, outdated string) []string {
	if tag == "" {
		return nil
	}
	all := []string{tag, "W/" + strings.TrimPrefix(tag, "W/"), `"0", ` + tag, "*", `"0"`}
	if outdated != "" {
		all = append(all, outdated)
	}
	return all
}

// singles are the conditions that are one tag: that of the document, and another one.
func singles(tag, outdated string) []string {
	if tag == "" {
		return nil
	}
	if outdated == "" {
		outdated = `"0"`
	}
	return []string{tag, outdated}
}
