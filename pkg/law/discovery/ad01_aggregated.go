package discovery

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad01: /api and /apis give the aggregated document to a client that asks for it by group,
// version and kind, in every encoding (KEP-3352, API).
var ad01 = formLaw(law.Row{ID: "AD-01", Takes: law.AnyRun, Sources: documents, Needs: atBoth("json", "yaml", "protobuf")}, func(s *sweep, a *answer) (tag, wrong string) {
	if withoutAggregation(s.by) || !a.unconditional() || len(a.options) != 1 || a.options[0].version != currentVersion || !slices.Contains(encodings, a.options[0].mediaType) || a.lost() {
		return "", ""
	}
	wanted := a.options[0]
	switch {
	case a.Code != http.StatusOK || !a.formed || !wanted.fits(a.form):
		return "", "did not give " + wanted.String()
	case a.Unreadable != "":
		return "", "gave a body that cannot be read: " + a.Unreadable
	case a.listing == nil:
		return "", "gave no document"
	case a.listing.Kind != listKind || a.listing.APIVersion != discoveryGroup+"/"+wanted.version:
		return "", fmt.Sprintf("gave a %s of %q", a.listing.Kind, a.listing.APIVersion)
	case len(a.listing.Groups) == 0:
		return "", "gave a document without groups"
	}
	return encodingTags[wanted.mediaType], ""
})

// encodingTags are short names of the encodings.
var encodingTags = map[string]string{encodings[0]: "json", encodings[1]: "yaml", encodings[2]: "protobuf"}
