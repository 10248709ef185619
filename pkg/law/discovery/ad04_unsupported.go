package discovery

import (
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad04: a client that asks for a version that the server does not have gets the form that
// is left, and else 406 with a Status (KEP-3352, API).
var ad04 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-04", Sources: documents, Needs: atBoth("fallback", "refused")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		judged(f, l, func(s *sweep, a *answer) bool {
			supported := a.supportedIn(s.offered())
			return a.document() && len(a.options) != len(supported) && len(supported) < 2
		}, func(s *sweep, a *answer) (string, string, []int64) {
			supported := a.supportedIn(s.offered())
			switch {
			case len(supported) == 0 && (a.code != http.StatusNotAcceptable || a.status == ""):
				return "", fmt.Sprintf("%s was asked at %s for nothing that it has (Accept: %q), and was to answer 406 with a Status, but answered %d with the content type %q",
					s.member.name, a.path, a.accept, a.code, a.contentType), law.Evidence(a.seq)
			case len(supported) == 0:
				return "refused", "", nil
			case a.code != http.StatusOK || !a.formed || !supported[0].fits(a.form):
				return "", fmt.Sprintf("%s was asked at %s for one thing that it has, %s, and others that it has not (Accept: %q), but answered %d with the content type %q",
					s.member.name, a.path, supported[0], a.accept, a.code, a.contentType), law.Evidence(a.seq)
			}
			return "fallback", "", nil
		})
	},
}
