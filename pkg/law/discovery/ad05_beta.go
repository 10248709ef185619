package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ad05: v2beta1 is served in the releases that are to serve it, and only in those
// (KEP-3352, graduation: it goes some releases after v2 came).
var ad05 = law.Each[*Facts, *sweep]{
	Row:  law.Row{ID: "AD-05", Takes: law.AnyRun, Sources: documents, Needs: append(each("judged"), law.Need{Name: "looks", Tag: "judged"})},
	Over: (*Facts).ready,
	End: func(s *sweep, _ law.Bounds) law.Entry {
		asked := fact.Where(s.answers, func(a *answer) bool {
			return a.unconditional() && len(a.options) == 1 && a.options[0].version == betaVersion
		})
		if len(asked) == 0 {
			return law.Entry{}
		}
		e := law.Of(s.by.Release, s.moment()).By(s.member.name)
		want, known := requirement.Serves(betaAPI, s.member.facts.Header.Distribution, s.by.Release)
		want = want && !withoutAggregation(s.by)
		if !known {
			return e.Unclear("whether the release %q of %q is to serve %s is not known", s.by.Release, s.member.facts.Header.Distribution, betaVersion)
		}
		for _, a := range asked {
			if a.busy() {
				return e.Excused("the server could not answer")
			}
			if serves := a.formed && a.Code == http.StatusOK && a.form.version == betaVersion; serves != want {
				return e.Broken("%s runs release %s, which is to serve %s: %v; but asked for nothing else at %s it answered %d with the content type %q",
					s.member.name, s.by.Release, betaVersion, want, a.Path, a.Code, a.ContentType).Shown(s.by.Started.Seq, a.seq)
			}
		}
		return e.Met("judged")
	},
}

// betaAPI is what the table of graduations calls it.
const betaAPI = discoveryGroup + "/" + betaVersion
