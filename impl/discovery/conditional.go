package discovery

import "strings"

// Unchanged reports whether a client that sent these values of If-None-Match
// has the document of the given tag already (RFC 9110, section 13.1.2): the
// header is "*" or a list of tags, which are compared without regard to whether
// they are weak. A header that cannot be read proves nothing, so the client gets
// the document. The tag is with its quotes, and strong.
func Unchanged(ifNoneMatch []string, tag string) bool {
	rest := strings.Trim(strings.Join(ifNoneMatch, ","), whitespace)
	if rest == "*" {
		return true
	}
	for rest != "" {
		candidate, after, ok := cutTag(rest)
		if !ok {
			return false
		}
		if candidate == tag {
			return true
		}
		rest = strings.TrimLeft(after, whitespace)
		if rest != "" && rest[0] != ',' {
			return false
		}
		// Empty elements of a list are allowed.
		rest = strings.TrimLeft(rest, whitespace+",")
	}
	return false
}

const whitespace = " \t"

// cutTag takes a tag, without its mark of weakness, from the front of a list.
func cutTag(list string) (tag, rest string, ok bool) {
	list = strings.TrimPrefix(strings.TrimLeft(list, whitespace+","), "W/")
	if list == "" || list[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			return list[:i+1], list[i+1:], true
		case c < 0x21 || c == 0x7f:
			return "", "", false
		}
	}
	return "", "", false
}

// AcceptsGzip reports whether a client takes a compressed answer, by the values
// of its Accept-Encoding header (RFC 9110, section 12.5.3). A coding that is
// named counts before "*", and a weight of zero refuses.
func AcceptsGzip(acceptEncoding []string) bool {
	rest := strings.Join(acceptEncoding, ",")
	others := false
	for read := 0; rest != "" && read < maxOptions; read++ {
		var element string
		element, rest, _ = strings.Cut(rest, ",")
		coding, parameter, _ := strings.Cut(element, ";")
		weight := 1.0
		if name, value, ok := strings.Cut(parameter, "="); ok && strings.EqualFold(strings.Trim(name, whitespace), "q") {
			weight = parseWeight(strings.Trim(value, whitespace))
		}
		switch strings.ToLower(strings.Trim(coding, whitespace)) {
		case "gzip", "x-gzip":
			return weight > 0
		case "*":
			others = weight > 0
		}
	}
	return others
}
