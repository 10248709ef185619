package discovery

import (
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad09: lists of tags, the asterisk and weak tags are understood (RFC 9110, 13.1.2).
var ad09 = formLaw(law.Row{ID: "AD-09", Takes: law.AnyRun, Sources: definitions, Needs: atBoth("weak", "list", "asterisk")}, func(s *sweep, a *answer) (tag, wrong string) {
	first := s.conditionally(a)
	switch {
	case first == nil:
		return "", ""
	case a.IfNoneMatch == "*":
		tag = "asterisk"
	case a.IfNoneMatch == "W/"+strings.TrimPrefix(first.ETag, "W/"):
		tag = "weak"
	case strings.Contains(a.IfNoneMatch, ",") && strings.Contains(a.IfNoneMatch, first.ETag):
		tag = "list"
	default:
		return "", ""
	}
	if a.Code != http.StatusNotModified {
		return "", "was given a condition that the tag " + first.ETag + " matches, and did not answer 304"
	}
	return tag, ""
})
