package discovery

import (
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad03: of several acceptable forms the client gets the first one that the server has
// (KEP-3352, API).
var ad03 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-03", Sources: documents, Needs: atBoth("aggregated", "plain")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		judged(f, l, func(s *sweep, a *answer) bool {
			return a.document() && len(a.supportedIn(s.offered())) > 1
		}, func(s *sweep, a *answer) (string, string, []int64) {
			supported := a.supportedIn(s.offered())
			first := supported[0]
			switch {
			case a.code != http.StatusOK || !a.formed || !first.fits(a.form):
				return "", fmt.Sprintf("%s was asked at %s for any of %d forms that it has, and was to give the first, %s, but answered %d with the content type %q (Accept: %q)",
					s.member.name, a.path, len(supported), first, a.code, a.contentType, a.accept), law.Evidence(a.seq)
			case first.aggregated():
				return "aggregated", "", nil
			}
			return "plain", "", nil
		})
	},
}
