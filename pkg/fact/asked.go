package fact

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Asked is a request of the harness itself to change an object that is not one of its
// tagged writes.
type Asked struct {
	*history.Request
	Stamp
	Member string
}

// Took is whether the request certainly changed something, by its answer: Unknown where
// there is none, or the server failed.
func (a *Asked) Took() Truth {
	switch {
	case a.Code >= 200 && a.Code < 300:
		return Yes
	case a.Code == 0, a.Code >= http.StatusInternalServerError && !a.Barrier:
		return Unknown
	}
	return No
}

// object is what a request is about; a subresource is part of its object.
type object struct{ group, resource, name string }

var changing = []string{"create", "update", "patch", "delete", "deletecollection"}

func (h *History) observeAsked(ev *history.Event) {
	r := ev.Request
	dry := r.Class == history.ClassInvalid && !r.WithoutDryRun
	if r.Write > 0 || r.Name == "" || dry || !slices.Contains(changing, r.Verb) {
		return
	}
	resource, _, _ := strings.Cut(r.Resource, "/")
	of := object{r.Group, resource, r.Name}
	h.asked[of] = append(h.asked[of], &Asked{r, StampOf(ev), ev.Member})
}

// Asked are the requests of the harness to change an object, in the order of their answers.
func (h *History) Asked(group, resource, name string) []*Asked {
	return h.asked[object{group, resource, name}]
}

// Answered is whether the history has told of the answer by now, if the harness asked for a change
// that was made then: requests end, and are told of, within a bound. What a run that was killed had
// asked for last, its history does not tell.
func (h *History) Answered(change Stamp, within time.Duration) bool {
	return h.ended || h.When(change).Latest+int64(within) <= h.Now
}

// Deletes is whether a request to delete something did so at a moment: Unknown where it may have.
func (h *History) Deletes(a *Asked, at Moment) Truth {
	took, sent := a.Took(), h.When(a.Stamp)
	switch {
	case a.Verb != "delete", sent.Earliest > at.Latest, took == Yes && sent.Latest < at.Earliest:
		return No
	case at.Earliest > sent.Latest+int64(requestDelay) && !h.Stalled(sent.Earliest, at.Latest):
		return No // whatever became of it, that was long before
	}
	return took
}

// ByHarness is whether the harness made a change of an object: Yes where an answer names
// the revision of the change, or the harness certainly deleted it at that time; Unknown
// where a request that may have come through was under way.
func (h *History) ByHarness(group, resource, name string, change Stamp, deleted bool) Truth {
	at, by := h.When(change), No
	for _, a := range h.Asked(group, resource, name) {
		took, sent := a.Took(), h.When(a.Stamp)
		switch {
		case deleted:
			by = max(by, h.Deletes(a, at))
		case took == No, a.Verb == "delete":
		case took == Yes:
			// A write that finds nothing to change is answered with an older revision.
			if a.ResourceVersion == change.Revision && a.From <= change.At {
				return Yes
			}
		case sent.Earliest > at.Latest:
		case at.Earliest > sent.Latest+int64(requestDelay) && !h.Stalled(sent.Earliest, at.Latest):
			// Whatever became of it, that was long before.
		default:
			by = Unknown
		}
	}
	return by
}
