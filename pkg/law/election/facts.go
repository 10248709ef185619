package election

import (
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

const (
	leasePrefix     = "/registry/leases/"
	candidatePrefix = "/registry/leasecandidates/"
	// coordinators is the Lease by which API servers elect the active coordinator.
	coordinators = "kube-system/leader-election-controller"
	// scheduler is the Lease of the only component that is no controller manager.
	scheduler = "kube-system/kube-scheduler"
	// oldest is the strategy by which a coordinator elects.
	oldest = "OldestEmulationVersion"
	// fieldProbes begins the names of the Leases in which the harness tries fields out.
	fieldProbes = "kube-system/evenkeel-fields-"
)

// Facts are the facts of KEP-4355 about one history.
type Facts struct {
	*fact.History
	// tells is whether coordinators say who they are in what they write.
	tells      bool
	leases     map[string]*Lease
	candidates []*Candidate
	// standing are the candidates that exist, by <namespace>/<name>.
	standing map[string]*Candidate
	// requests are those of the class election, and stamps the last times that other
	// writers put into what etcd told, in the order of revisions.
	requests []*request
	// forced are the Leases that the harness gave content as no participant does, by the
	// revision of the change.
	forced map[int64]string
	// written are the Leases that the harness wrote to in whatever role, by the revision.
	written map[int64]string
	stamps  []written
	// disturbances are when something happened for which a leader may have to be elected.
	disturbances []disturbance
	// errands are the tasks that the harness gave leaders to do.
	errands []errand
	cache   cache
}

// request is a write to a Lease or a LeaseCandidate that the harness sent.
type request struct {
	*history.Request
	member string
	fact.Stamp
}

// written is a revision and the latest time that writers had put into any object by then.
type written struct{ revision, at int64 }

// begin makes the facts of a history of which nothing was observed.
func begin(h *fact.History) *Facts {
	return &Facts{History: h, leases: map[string]*Lease{}, standing: map[string]*Candidate{}, forced: map[int64]string{}, written: map[int64]string{}}
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	f.disturb(ev)
	f.observeErrand(ev)
	switch {
	case ev.Request != nil && ev.Request.Class == history.ClassElection:
		f.observeRequest(ev)
	case ev.Stored == nil:
	case strings.HasPrefix(ev.Stored.Key, candidatePrefix):
		f.observeCandidate(ev)
	case strings.HasPrefix(ev.Stored.Key, leasePrefix):
		f.observeLease(ev)
	case ev.Stored.Acted != nil:
		f.observeAction(ev)
	}
}

// observeRequest notes what the harness asks for, and the changes that it makes by force.
func (f *Facts) observeRequest(ev *history.Event) {
	r := ev.Request
	f.requests = append(f.requests, &request{r, ev.Member, fact.StampOf(ev)})
	if r.Resource != "leases" || r.ResourceVersion == 0 || r.Code < 200 || r.Code >= 300 {
		return
	}
	f.written[r.ResourceVersion] = r.Name
	switch r.Election {
	case history.ElectionOdd, history.ElectionSeize, history.ElectionAssign, history.ElectionFields:
		f.forced[r.ResourceVersion] = r.Name
	}
}

// noteStamp notes a time that a writer put into an object. A time that lies in the future
// says nothing of when it was written.
func (f *Facts) noteStamp(revision, at, now int64) {
	if at > now {
		return
	}
	if n := len(f.stamps); n > 0 {
		if at <= f.stamps[n-1].at {
			return
		}
	}
	f.stamps = append(f.stamps, written{revision, at})
}

// writtenAfter is the latest time that any writer had put into an object before a
// revision: by the clocks of the writers, the revision was made later.
func (f *Facts) writtenAfter(revision int64) int64 {
	i, _ := slices.BinarySearchFunc(f.stamps, revision, func(w written, r int64) int {
		if w.revision < r {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return f.stamps[i-1].at
}

// componentOf is the component whose Lease it is. The scheduler has its own; all others
// are led by what the controller managers run.
func componentOf(lease string) string {
	if lease == scheduler {
		return history.ComponentScheduler
	}
	return history.ComponentControllerManager
}

// byForce is whether the harness put a holder there that no component is.
func byForce(holder string) bool {
	return holder == history.ElectionNobody || holder == history.ElectionThirdParty
}

// deletedByHarness is whether a request of the harness asked for the deletion of a Lease
// at a moment.
func (f *Facts) deletedByHarness(lease string, at fact.Moment) bool {
	return slices.ContainsFunc(f.requests, func(r *request) bool {
		if r.Verb != "delete" || r.Resource != "leases" || r.Name != lease || r.Code == http.StatusNotFound {
			return false
		}
		sent := f.When(r.Stamp)
		return sent.Earliest <= at.Latest && at.Earliest <= sent.Latest
	})
}

// asked is the number of the last event in which a request of the harness may show that it
// asked for what came about at a moment: a breach that follows from there being none needs
// the recorder of requests to have missed nothing up to then.
func (f *Facts) asked(at fact.Moment) int64 {
	return f.Evidence(at.Latest + int64(requestsEndWithin()))
}

// sorted are the Leases that fit, in the order of their names.
func (f *Facts) sorted(fits func(*Lease) bool) []*Lease {
	var out []*Lease
	for _, key := range law.SortedKeys(f.leases) {
		if l := f.leases[key]; fits(l) {
			out = append(out, l)
		}
	}
	return out
}

// componentLeases are the Leases that instances of the members stand for.
func (f *Facts) componentLeases() []*Lease {
	return f.sorted(func(l *Lease) bool {
		return slices.ContainsFunc(f.candidatesOf(l.Key), func(c *Candidate) bool { return c.process() != nil })
	})
}

// electedLeases are the Leases that candidates stood for, all by the strategy of the
// coordinators.
func (f *Facts) electedLeases() []*Lease {
	return f.wantedLeases(func(l *Lease) bool {
		all := f.candidatesOf(l.Key)
		return len(all) > 0 && !slices.ContainsFunc(all, func(c *Candidate) bool {
			return slices.ContainsFunc(c.changes, func(ch candidateChange) bool { return ch.now.Strategy != oldest })
		})
	})
}

// wantedLeases are those that any candidate stood for, whether they ever existed or not,
// that fit.
func (f *Facts) wantedLeases(fits func(*Lease) bool) []*Lease {
	keys := map[string]bool{}
	for _, c := range f.candidates {
		keys[c.Lease] = true
	}
	var out []*Lease
	for _, key := range law.SortedKeys(keys) {
		l := f.leases[key]
		if l == nil {
			l = &Lease{facts: f, Key: key}
		}
		if !l.foreign() && fits(l) {
			out = append(out, l)
		}
	}
	return out
}
