package discovery

import (
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad08: a matching If-None-Match gives 304 without a body, any other the document
// (KEP-3352, caching). It sees JSON and protobuf.
var ad08 = formLaw(law.Row{ID: "AD-08", Takes: law.AnyRun, Sources: definitions, Needs: atBoth("unchanged", "full")}, func(s *sweep, a *answer) (tag, wrong string) {
	first := s.conditionally(a)
	if first == nil || !singleTag(a.IfNoneMatch) && a.IfNoneMatch != first.ETag {
		return "", ""
	}
	switch matches := a.IfNoneMatch == first.ETag; {
	case a.Code == http.StatusNotModified && len(s.member.facts.foreign) > 0 && s.member.differsByForeign(first.listing, s.member.had(a), s.from):
		return "", "" // the document was another one for a moment
	case matches && (a.Code != http.StatusNotModified || a.Size > 0):
		return "", "was told that the client has " + first.ETag + ", which is the document's tag, and gave the document"
	case matches:
		return "unchanged", ""
	case a.Code != http.StatusOK || a.Accept == askedJSON && a.Digest != first.Digest || a.Content != first.Content:
		return "", "was told that the client has " + a.IfNoneMatch + ", which is not the document's tag, and did not give the document"
	}
	return "full", ""
})

// conditionally is the steady document that an answer to a condition is about; nil where it
// was asked without one, the document has no tag, or another one was given for a moment
// because of what is foreign.
func (s *sweep) conditionally(a *answer) *answer {
	first := s.steady(a.Path)
	if first == nil || first.ETag == "" || a.IfNoneMatch == "" || a.Accept != askedJSON && a.Accept != askedProtobuf {
		return nil
	}
	if a.IfNoneMatch != "*" && a.Code == http.StatusOK && s.member.differsByForeign(first.listing, a.listing, s.from) {
		return nil
	}
	return first
}

// had is the listing that the member gave last under the tag of a condition; nil if it is
// not known.
func (m *member) had(a *answer) (found *listing) {
	for _, k := range m.facts.looks {
		if k.member == m && k.Path == a.Path && k.at <= a.at && k.ETag == a.IfNoneMatch && k.listing != nil {
			found = k.listing
		}
	}
	return found
}

// singleTag is whether a condition is one strong tag.
func singleTag(condition string) bool {
	return strings.HasPrefix(condition, `"`) && strings.HasSuffix(condition, `"`) && strings.Count(condition, `"`) == 2
}
