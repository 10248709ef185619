package discovery

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad09: lists of tags, the asterisk and weak tags are understood (RFC 9110, 13.1.2).
var ad09 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-09", Sources: definitions, Needs: atBoth("weak", "list", "asterisk")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		judged(f, l, func(s *sweep, a *answer) bool {
			return a.conditional() && s.tagged(a.path) != nil && a.kindOfCondition(s.tagged(a.path).tag) != ""
		}, func(s *sweep, a *answer) (string, string, []int64) {
			first := s.tagged(a.path)
			switch {
			case a.condition != "*" && a.code == http.StatusOK && s.member.differsByForeign(first.listing, a.listing, s.from):
				return "", "", nil // the document was another one for a moment
			case a.code != http.StatusNotModified:
				return "", fmt.Sprintf("%s was asked at %s with If-None-Match: %s, which the tag %s matches, and answered %d", s.member.name, a.path, a.condition, first.tag, a.code), law.Evidence(first.seq, a.seq)
			}
			return a.kindOfCondition(first.tag), "", nil
		})
	},
}

// kindOfCondition names the kind of a condition that a tag matches, and that is not the tag
// alone; empty if it is none.
func (q *question) kindOfCondition(tag string) string {
	switch {
	case q.condition == "*":
		return "asterisk"
	case q.condition == "W/"+tag:
		return "weak"
	case strings.Contains(q.condition, ",") && strings.Contains(q.condition, tag):
		return "list"
	}
	return ""
}
