package discovery

import (
	"cmp"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// form is what a client gets, or asks for: an aggregated document of a version,
// or with none the one that is not aggregated.
type form struct {
	mediaType string
	version   string
}

// aggregated is whether the form is one of the aggregated document.
func (f form) aggregated() bool { return f.version != "" }

func (f form) String() string {
	if !f.aggregated() {
		return f.mediaType + ", not aggregated"
	}
	return f.mediaType + ", aggregated " + f.version
}

// option is one element of an Accept header that can be served at all.
type option struct {
	form
	// wild is whether any encoding will do.
	wild   bool
	weight float64
}

// unheard is the version of an option whose group or kind no server has.
const unheard = "?"

// Encodings that every document has.
var encodings = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}

// optionsOf is parseAccept of a header, which histories repeat.
func (f *Facts) optionsOf(accept string) []option {
	options, ok := f.accepted[accept]
	if !ok {
		options = parseAccept(accept)
		f.accepted[accept] = options
	}
	return options
}

// parseAccept reads an Accept header, the most preferred option first: weights, and among
// equal ones the order (KEP-3352 with RFC 9110).
func parseAccept(accept string) []option {
	if strings.TrimSpace(accept) == "" {
		return []option{{wild: true, weight: 1}}
	}
	var options []option
	for _, element := range strings.Split(accept, ",") {
		mediaType, parameters, err := mime.ParseMediaType(strings.TrimSpace(element))
		if err != nil {
			continue
		}
		one := option{form: form{mediaType: mediaType}, wild: mediaType == "*/*", weight: 1}
		if q, ok := parameters["q"]; ok {
			if weight, err := strconv.ParseFloat(q, 64); err == nil {
				one.weight = weight
			}
		}
		if as, asked := parameters["as"]; asked {
			one.version = parameters["v"]
			if as != listKind || parameters["g"] != discoveryGroup || one.version == "" {
				one.version = unheard
			}
		}
		if one.weight > 0 {
			options = append(options, one)
		}
	}
	slices.SortStableFunc(options, func(a, b option) int { return cmp.Compare(b.weight, a.weight) })
	return options
}

const (
	discoveryGroup = "apidiscovery.k8s.io"
	listKind       = "APIGroupDiscoveryList"
	// currentVersion is the version of the aggregated document that every release
	// has, betaVersion the one before.
	currentVersion = "v2"
	betaVersion    = "v2beta1"
)

// supported is whether the option can be served where these versions of the
// aggregated document are.
func (o option) supported(offered []string) bool {
	return (o.wild || slices.Contains(encodings, o.mediaType)) && (!o.aggregated() || slices.Contains(offered, o.version))
}

// fits is whether an answer's form is what the option asks for.
func (o option) fits(f form) bool {
	return f.version == o.version && (o.wild || f.mediaType == o.mediaType)
}

// formOf is the form of an answer by its content type; ok is false where it is
// none of a discovery document.
func formOf(contentType string) (f form, ok bool) {
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || !slices.Contains(encodings, mediaType) {
		return form{}, false
	}
	f.mediaType = mediaType
	if as, aggregated := parameters["as"]; aggregated {
		if as != listKind || parameters["g"] != discoveryGroup || parameters["v"] == "" {
			return form{}, false
		}
		f.version = parameters["v"]
	}
	return f, true
}

// supportedIn are the options that can be served where these versions of the aggregated
// document are, the most preferred first.
func supportedIn(options []option, offered []string) []option {
	return fact.Where(options, func(o option) bool { return o.supported(offered) })
}
