package discovery

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad01: /api and /apis give the aggregated document to a client that asks for it by group,
// version and kind, in every encoding (KEP-3352, API).
var ad01 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-01", Sources: documents, Needs: atBoth("json", "yaml", "protobuf")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		judged(f, l, func(_ *sweep, a *answer) bool {
			return a.document() && len(a.options) == 1 && a.options[0].version == currentVersion && slices.Contains(encodings, a.options[0].mediaType) && !a.untold()
		}, func(s *sweep, a *answer) (string, string, []int64) {
			wanted := a.options[0]
			if wrong := a.notAggregated(wanted); wrong != "" {
				return "", fmt.Sprintf("%s was asked at %s for %s and %s", s.member.name, a.path, wanted, wrong), law.Evidence(a.seq)
			}
			return encodingTags[wanted.mediaType], "", nil
		})
	},
}

// encodingTags are short names of the encodings.
var encodingTags = map[string]string{encodings[0]: "json", encodings[1]: "yaml", encodings[2]: "protobuf"}

// notAggregated says in words what keeps a reply from being the aggregated document in a
// form; empty if nothing does.
func (r *reply) notAggregated(wanted option) string {
	switch {
	case r.code != http.StatusOK:
		return fmt.Sprintf("answered %d", r.code)
	case !r.formed || !wanted.fits(r.form):
		return fmt.Sprintf("answered with the content type %q", r.contentType)
	case r.unreadable != "":
		return "answered with a body that cannot be read: " + r.unreadable
	case r.listing == nil:
		return "answered with no document"
	case r.listing.kind != listKind || r.listing.apiVersion != discoveryGroup+"/"+wanted.version:
		return fmt.Sprintf("answered with a %s of %q", r.listing.kind, r.listing.apiVersion)
	case len(r.listing.groups) == 0:
		return "answered with a document without groups"
	}
	return ""
}
