package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad04: a client that asks for a version that the server does not have gets the form that
// is left, and else 406 with a Status (KEP-3352, API).
var ad04 = formLaw(law.Row{ID: "AD-04", Takes: law.AnyRun, Sources: documents, Needs: atBoth("fallback", "refused")}, func(s *sweep, a *answer) (tag, wrong string) {
	supported := supportedIn(a.options, s.offered)
	switch {
	case !a.unconditional() || len(a.options) == len(supported) || len(supported) > 1:
		return "", ""
	case len(supported) == 0 && (a.Code != http.StatusNotAcceptable || a.Status == ""):
		return "", "has nothing of that, and did not answer 406 with a Status"
	case len(supported) == 0:
		return "refused", ""
	case a.Code != http.StatusOK || !a.formed || !supported[0].fits(a.form):
		return "", "did not give the only form of these that it has, " + supported[0].String()
	}
	return "fallback", ""
})
