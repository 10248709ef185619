package discovery

import (
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ad05: v2beta1 is served in the releases that are to serve it, and only in those
// (KEP-3352, graduation: it goes some releases after v2 came).
var ad05 = law.Written[*Facts]{
	Row:   law.Row{ID: "AD-05", Sources: documents, Needs: append(each("judged"), law.Need{Name: "looks", Tag: "judged"})},
	Judge: judgeBeta,
}

// betaAPI is what the table of graduations calls it.
const betaAPI = "apidiscovery.k8s.io/" + betaVersion

func judgeBeta(f *Facts, l *law.Ledger, _ law.Bounds) {
	unknown := ""
	for _, s := range f.sweeps() {
		if !s.wasReady {
			l.Excused(s.member.name, s.moment(), "the member was not ready all the time of a thorough look")
			continue
		}
		want, known := requirement.Serves(betaAPI, f.Header.Distribution, s.process.Release)
		if !known {
			unknown = s.process.Release
			continue
		}
		if e, asked := s.beta(want); asked {
			l.Add(e)
		}
	}
	if unknown != "" {
		l.Doubt("whether the release %q of %q is to serve %s is not known", unknown, f.Header.Distribution, betaVersion)
	}
}

// beta judges the last answers of a sweep to requests for nothing but v2beta1; asked is
// whether there are any.
func (s *sweep) beta(want bool) (e law.Entry, asked bool) {
	e = law.Entry{Ending: law.Met, About: s.process.Release, Member: s.member.name, Began: s.moment(), Tags: []string{"judged"}}
	for _, path := range []string{corePath, groupsPath} {
		var last *answer
		for _, a := range s.documents() {
			if a.path == path && len(a.options) == 1 && a.options[0].version == betaVersion {
				last = a
			}
		}
		switch {
		case last == nil:
			continue
		case last.busy():
			e.Ending, e.Why = law.Excused, "the server could not answer"
			return e, true
		}
		asked = true
		if got := last.formed && last.code == http.StatusOK && last.form.version == betaVersion; got != want {
			e.Ending, e.Evidence = law.Broken, law.Evidence(s.process.Started.Seq, last.seq)
			e.Why = fmt.Sprintf("%s runs release %s, which is to serve %s: %v; but asked for nothing else at %s it answered %d with the content type %q",
				s.member.name, s.process.Release, betaVersion, want, path, last.code, last.contentType)
			return e, true
		}
	}
	return e, asked
}
