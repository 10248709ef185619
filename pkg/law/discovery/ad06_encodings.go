package discovery

import (
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad06: all encodings hold the same document under one tag (KEP-3352, caching).
var ad06 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-06", Sources: definitions, Needs: atBoth("yaml", "protobuf")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		judged(f, l, func(s *sweep, a *answer) bool {
			return a.document() && s.steady(a.path) != nil && a.code == http.StatusOK && a.content != "" &&
				len(a.options) == 1 && a.options[0].version == currentVersion && (a.options[0].mediaType == encodings[1] || a.options[0].mediaType == encodings[2])
		}, func(s *sweep, a *answer) (string, string, []int64) {
			first, encoding := s.steady(a.path), a.options[0].mediaType
			switch {
			case s.member.differsByForeign(first.listing, a.listing, s.from):
				return "", "", nil
			case a.tag != first.tag:
				return "", fmt.Sprintf("%s has the tag %s for %s in JSON and %s in %s", s.member.name, first.tag, a.path, a.tag, encoding), law.Evidence(first.seq, a.seq)
			case a.content != first.content:
				return "", fmt.Sprintf("%s tells something else at %s in %s than in JSON", s.member.name, a.path, encoding), law.Evidence(first.seq, a.seq)
			}
			return encodingTags[encoding], "", nil
		})
	},
}
