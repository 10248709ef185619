package check

import (
	"net/http"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// deletions tell which Leases were deleted though the harness did not ask for it. The
// line of a request comes when it is answered, before or after that of what it did.
type deletions struct {
	// asked are the requests to delete a Lease that were told so far; the last few.
	asked map[string][]stretch
	// open are the deletions that nobody is known to have asked for so far.
	open []unmade
}

// unmade is a deletion of a Lease.
type unmade struct {
	lease             string
	seq, at, revision int64
}

// keptRequests bounds how many requests about one Lease are remembered: more of them
// are never under way at once.
const keptRequests = 16

// take follows requests and deletions of Leases that are watched.
func (d *deletions) take(w *World, ev *history.Event, watched bool) {
	if r := ev.Request; r != nil && r.Class == history.ClassElection && r.Verb == "delete" && r.Resource == "leases" && r.Code != http.StatusNotFound {
		if d.asked == nil {
			d.asked = map[string][]stretch{}
		}
		if len(d.asked[r.Name]) >= keptRequests {
			d.asked[r.Name] = d.asked[r.Name][1:]
		}
		d.asked[r.Name] = append(d.asked[r.Name], stretch{ev.From, ev.At})
		d.open = slices.DeleteFunc(d.open, func(one unmade) bool { return d.explained(w, one) })
	}
	if m := w.elections.moved; watched && m != nil && m.deleted {
		if one := (unmade{m.lease.key, ev.Seq, ev.At, m.lease.revision}); !d.explained(w, one) {
			d.open = append(d.open, one)
		}
	}
}

// explained is whether the harness has asked for a deletion. The recorder may have told
// of it some time after it was answered.
func (d *deletions) explained(w *World, one unmade) bool {
	return slices.ContainsFunc(d.asked[one.lease], func(r stretch) bool {
		return one.at >= r.from && time.Duration(one.at-r.to) <= w.aways.lag(r.to, one.at)
	})
}

// unasked gives, once for each, the deletions for which no request can come any more.
func (d *deletions) unasked(w *World) []unmade {
	i := 0
	for i < len(d.open) && time.Duration(w.Now-d.open[i].at) > underWay {
		i++
	}
	out := d.open[:i]
	d.open = d.open[i:]
	return out
}
