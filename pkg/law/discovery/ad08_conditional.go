package discovery

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad08: a matching If-None-Match gives 304 without a body, any other the document
// (KEP-3352, caching).
var ad08 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-08", Sources: definitions, Needs: atBoth("unchanged", "full")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		judged(f, l, func(s *sweep, a *answer) bool {
			return a.conditional() && singleTag(a.condition) && s.tagged(a.path) != nil
		}, func(s *sweep, a *answer) (string, string, []int64) {
			first := s.tagged(a.path)
			switch evidence := law.Evidence(first.seq, a.seq); {
			case a.code == http.StatusOK && s.member.differsByForeign(first.listing, a.listing, s.from),
				a.code == http.StatusNotModified && s.member.differsByForeign(first.listing, s.member.had(a.path, a.condition, a.at), s.from):
				return "", "", nil // the document was another one for a moment
			case a.condition == first.tag && (a.code != http.StatusNotModified || a.size > 0):
				return "", fmt.Sprintf("%s was told at %s that the client has %s, which is the document's tag, and answered %d with %d bytes", s.member.name, a.path, first.tag, a.code, a.size), evidence
			case a.condition == first.tag:
				return "unchanged", "", nil
			case a.code != http.StatusOK || a.digest != first.digest:
				return "", fmt.Sprintf("%s was told at %s that the client has %s, which is not the document's tag, and answered %d with %d bytes in the place of the document", s.member.name, a.path, a.condition, a.code, a.size), evidence
			}
			return "full", "", nil
		})
	},
}

// conditional is whether it asks for one of the two documents only if it changed.
func (q *question) conditional() bool {
	return (q.path == corePath || q.path == groupsPath) && q.condition != "" && q.accept == askedJSON
}

// tagged is steady of a document that has a tag; nil else.
func (s *sweep) tagged(path string) *answer {
	if a := s.steady(path); a != nil && a.tag != "" {
		return a
	}
	return nil
}

// had is the listing that the member gave last under a tag by a time; nil if it is not
// known.
func (m *member) had(path, tag string, at int64) (found *listing) {
	for _, k := range m.looks[path] {
		if k.at > at {
			break
		}
		if k.tag == tag && k.listing != nil {
			found = k.listing
		}
	}
	return found
}

// singleTag is whether a condition is one strong tag.
func singleTag(condition string) bool {
	return strings.HasPrefix(condition, `"`) && strings.HasSuffix(condition, `"`) && strings.Count(condition, `"`) == 2
}
