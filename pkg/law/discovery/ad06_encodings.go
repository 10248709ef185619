package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad06: all encodings hold the same document under one tag (KEP-3352, caching).
var ad06 = formLaw(law.Row{ID: "AD-06", Takes: law.AnyRun, Sources: definitions, Needs: atBoth("yaml", "protobuf")}, func(s *sweep, a *answer) (tag, wrong string) {
	first := s.steady(a.Path)
	if first == nil || !a.unconditional() || a.Code != http.StatusOK || a.Content == "" || len(a.options) != 1 || a.options[0].version != currentVersion {
		return "", ""
	}
	switch tag = encodingTags[a.options[0].mediaType]; {
	case tag != "yaml" && tag != "protobuf", s.member.differsByForeign(first.listing, a.listing, s.from):
		return "", ""
	case a.ETag != first.ETag:
		return "", "has another tag in " + a.options[0].mediaType + " than in JSON, " + first.ETag
	case a.Content != first.Content:
		return "", "tells something else in " + a.options[0].mediaType + " than in JSON"
	}
	return tag, ""
})
