package discovery_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// The bound of AD-29 is a number of requests: as many pass, one more fails, and one more of a client
// that may have asked again, since a request was refused, shows nothing.
func TestAD29_InsideOutsideAndBetween(t *testing.T) {
	most := int(requirement.MustNumber("AD-29", "requests"))
	for name, tc := range map[string]struct {
		requests, refused int
		want              check.Verdict
		excused           bool
	}{
		"as many as the bound":              {most, 0, check.Pass, false},
		"fewer":                             {most - 1, 0, check.Pass, false},
		"one more":                          {most + 1, 0, check.Fail, false},
		"one more, and one of them refused": {most + 1, 1, check.Pass, true},
	} {
		t.Run(name, func(t *testing.T) {
			header, lines := passing(t, "AD-29")
			changed := 0
			for i := range lines {
				document := lines[i].DiscoveryDocument
				if document == nil || document.Client == nil || document.Client.Legacy || changed > 0 {
					continue
				}
				client, copied := *document.Client, *document
				client.Requests, client.Refused = tc.requests, tc.refused
				copied.Client = &client
				lines[i].DiscoveryDocument = &copied
				changed++
			}
			if changed == 0 {
				t.Fatal("the story has no client of aggregated discovery")
			}
			r := judgetest.Judge(t, &judgetest.Events{Head: header, Lines: lines}, "AD-29")
			if r.Verdict != tc.want && !(tc.excused && r.Verdict == check.Inconclusive) || (r.Obligations.Excused > 0) != tc.excused {
				t.Errorf("got %s, %+v, want %s", r.Verdict, r.Obligations, tc.want)
			}
		})
	}
}

// passing gives the story in which a requirement passes.
func passing(t *testing.T, id requirement.ID) (history.Header, []history.Event) {
	t.Helper()
	for _, s := range stories.All() {
		if s.Requirement == id && s.Want == story.Pass {
			return s.Whole().Header(), s.Whole().Events()
		}
	}
	t.Fatalf("%s has no passing story", id)
	return history.Header{}, nil
}
