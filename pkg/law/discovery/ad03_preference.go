package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad03: of several acceptable forms the client gets the first one that the server has
// (KEP-3352, API).
var ad03 = formLaw(law.Row{ID: "AD-03", Takes: law.AnyRun, Sources: documents, Needs: atBoth("aggregated", "plain")}, func(s *sweep, a *answer) (tag, wrong string) {
	supported := supportedIn(a.options, s.offered)
	switch {
	case !a.unconditional() || len(supported) < 2:
		return "", ""
	case a.Code != http.StatusOK || !a.formed || !supported[0].fits(a.form):
		return "", "did not give the first of the forms that it has, " + supported[0].String()
	case supported[0].aggregated():
		return "aggregated", ""
	}
	return "plain", ""
})
