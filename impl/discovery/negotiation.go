package discovery

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
)

// Negotiate chooses the form for the values of a request's Accept header. It
// reports false if the client accepts nothing that is offered.
//
// KEP-3352: clients name all acceptable forms in the order of their preference,
// and "the server will return the first option that is supported"; without any,
// the form is the one that is not aggregated. A weight (RFC 9110) comes before
// the order, and a weight of zero refuses a form. The offered versions are those
// of the aggregated document; the form that is not aggregated is always offered.
func Negotiate(accept []string, offered []string) (Form, bool) {
	header := strings.Join(accept, ",")
	if strings.TrimSpace(header) == "" {
		return Form{MediaType: mediaTypes[0]}, true
	}
	options := parseAccept(header)
	for _, o := range byPreference(options) {
		if !o.supported(offered) {
			continue
		}
		for _, mediaType := range mediaTypes {
			if o.covers(mediaType) && !refused(options, o, mediaType) {
				return Form{Version: o.version, MediaType: mediaType, Scope: o.scope}, true
			}
		}
	}
	return Form{}, false
}

// option is one element of an Accept header.
type option struct {
	// mediaType is lower case and may have wildcards.
	mediaType string
	weight    float64
	// converts: the client asks for an object of a certain kind, not for the
	// default one.
	converts             bool
	group, version, kind string
	scope                Scope
}

// supported reports whether the kind of object is one that can be served.
func (o option) supported(offered []string) bool {
	return !o.converts || o.group == apidiscoveryv2.GroupName && o.kind == listKind && slices.Contains(offered, o.version)
}

// covers reports whether the option stands for an encoding.
func (o option) covers(mediaType string) bool {
	if o.mediaType == mediaType || o.mediaType == "*/*" {
		return true
	}
	kind, wild := strings.CutSuffix(o.mediaType, "/*")
	return wild && strings.HasPrefix(mediaType, kind+"/")
}

// refused reports whether an option that is not as general as the chosen one
// rules out an encoding of the same object: "*/*" does not bring back what
// "application/json;q=0" refuses.
func refused(options []option, chosen option, mediaType string) bool {
	return slices.ContainsFunc(options, func(o option) bool {
		return o.weight == 0 && o.covers(mediaType) && o.precision() > chosen.precision() &&
			o.converts == chosen.converts && o.group == chosen.group && o.version == chosen.version && o.kind == chosen.kind
	})
}

// precision grows with how few encodings an option stands for.
func (o option) precision() int { return 2 - strings.Count(o.mediaType, "*") }

// byPreference are the options that the client accepts, the dearest first.
func byPreference(options []option) []option {
	accepted := slices.DeleteFunc(slices.Clone(options), func(o option) bool { return o.weight == 0 })
	slices.SortStableFunc(accepted, func(a, b option) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return accepted
}

// parseAccept reads the elements of an Accept header. One that cannot be read is
// passed over: what it asks for is not known, so it cannot be served.
func parseAccept(header string) []option {
	var options []option
	for len(header) > 0 && len(options) < maxOptions {
		var element string
		element, header = cutElement(header)
		if o, ok := parseOption(element); ok {
			options = append(options, o)
		}
	}
	return options
}

func parseOption(element string) (option, bool) {
	mediaType, parameters, err := mime.ParseMediaType(element)
	if err != nil {
		return option{}, false
	}
	o := option{mediaType: mediaType, weight: 1}
	for name, value := range parameters {
		switch name {
		case "q":
			o.weight = parseWeight(value)
		case "g":
			o.group, o.converts = value, true
		case "v":
			o.version, o.converts = value, true
		case "as":
			o.kind, o.converts = value, true
		case "profile":
			if scope := Scope(value); scope == WithoutPeers || scope == BuiltinOnly {
				o.scope = scope
			}
		}
	}
	return o, true
}

// parseWeight reads a weight between 0 and 1. One that is none counts as absent.
func parseWeight(value string) float64 {
	weight, err := strconv.ParseFloat(value, 64)
	// Written so that it also holds for what is not a number.
	if err != nil || !(weight >= 0 && weight <= 1) {
		return 1
	}
	return weight
}

// cutElement splits a list at its first comma that is not quoted.
func cutElement(list string) (element, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '\\' && quoted:
			i++
		case list[i] == '"':
			quoted = !quoted
		case list[i] == ',' && !quoted:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}
