package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// World is what a history has shown so far: who lives at which release, who
// takes part, what each StorageVersion says. It is kept once for all checks.
type World struct {
	Header history.Header
	// Revision is the watermark of etcd: every change up to it has been seen.
	Revision int64
	// Now is the time of the event that was taken in last.
	Now int64

	memberOf map[string]string // server ID → member
	serverOf map[string]string // member → server ID
	servers  map[string]*server
	// order are the members in the order of the header.
	order []string

	resources *resources
	// custom are the resources that the harness has defined itself.
	custom map[groupResource]bool
	looks  looks
	writes *writes
	// matched is the tagged write whose second side the event in hand is.
	matched  *write
	versions map[string]*storageVersion
	gone     []string // names of deleted ones, oldest first
	leases   map[string]*lease

	// latest is the revision of the change that was seen last. There may be
	// more of the same revision to come, so that the watermark is behind it.
	latest int64
	// heard is the highest revision that was read from etcd by anybody: what
	// was written after that moment has a higher one.
	heard int64

	hold   *openHold
	holds  []HoldSeen
	faults []*FaultSeen
	etcd   []EtcdSeen
	gaps   map[Source]int64
	// aways are the times at which the etcd recorder heard nothing.
	aways aways
	// alien counts gaps of recorders that are not known here.
	alien int64
	// untimely is why no time can be told; empty if all can.
	untimely string
	// torn is whether lines were missing so far.
	torn bool
	seq  int64
	end  *history.End
	died []string // etcds and API servers that ended by themselves
	// notReached is what steps waited for in vain.
	notReached []string

	asking *runner
	// balancer is what clients of the load balancer got.
	balancer BalancerSeen
	// managers are the controller managers.
	managers *managers
	// elections is what was told of leaders and of those who want to lead.
	elections *elections
	// ran is which releases ran, and without which features.
	ran *ran
}

type openHold struct {
	seq, revision int64
	releases      map[string]string
}

func newWorld(h history.Header) *World {
	w := &World{
		Header:    h,
		memberOf:  map[string]string{},
		serverOf:  map[string]string{},
		servers:   map[string]*server{},
		resources: newResources(h),
		custom:    map[groupResource]bool{},
		writes:    newWrites(),
		versions:  map[string]*storageVersion{},
		leases:    map[string]*lease{},
		gaps:      map[Source]int64{},

		managers: newManagers(),

		elections: newElections(),
		ran:       newRan(h),
	}
	for _, m := range h.Members {
		w.memberOf[m.ServerID] = m.Name
		w.serverOf[m.Name] = m.ServerID
		w.servers[m.Name] = &server{member: m.Name, id: m.ServerID}
		w.order = append(w.order, m.Name)
	}
	return w
}

// take brings the World up to date with an event.
func (w *World) take(ev *history.Event) {
	w.Now = ev.At
	w.torn = w.torn || ev.Seq != w.seq+1
	w.seq = ev.Seq
	w.matched = nil
	switch {
	case ev.Stored != nil:
		w.takeStored(ev)
	case ev.Process != nil:
		w.takeProcess(ev)
	case ev.Ready != nil:
		w.hear(ev.Ready.Revision)
		w.takeReady(ev)
	case ev.Discovery != nil:
		w.hear(ev.Discovery.Revision)
		w.takeDiscovery(ev)
	case ev.Request != nil:
		w.takeRequest(ev)
	case ev.Hold != nil:
		w.hear(ev.Hold.Revision)
		w.takeHold(ev)
	case ev.Fault != nil:
		w.takeFault(ev)
	case ev.Etcd != nil:
		w.takeEtcd(ev)
	case ev.Balancer != nil:
		w.balancer.take(ev)
	case ev.Gap != nil:
		w.takeGap(ev.Gap)
	case ev.Away != nil:
		w.aways.take(ev)
	case ev.NotReached != nil && !ev.NotReached.Judged:
		// Until RO-02 and RO-03 judge it, it keeps every requirement from passing.
		w.notReached = append(w.notReached, fmt.Sprintf("%s (event %d)", ev.NotReached.Sentence(ev.Member), ev.Seq))
	case ev.End != nil:
		end := *ev.End
		w.end = &end
	}
	w.managers.take(w, ev)
	w.elections.take(w, ev)
	w.ran.take(ev)
}

// finish is called when nothing more will come.
func (w *World) finish() {
	w.reach(w.latest)
	for _, in := range w.running() {
		w.closeInstance(in)
	}
	w.writes.finish(w.Now - int64(tail))
}

func (w *World) takeStored(ev *history.Event) {
	s := ev.Stored
	if s.Revision <= w.Revision {
		// Several keys may change in one revision, none in one that is over.
		w.gaps[SourceEtcd]++
		return
	}
	w.reach(s.Revision - 1)
	w.latest = s.Revision
	w.hear(s.Revision)
	if name, ok := storageVersionName(s); ok {
		w.changeStorageVersion(name, ev)
	}
	if id, ok := strings.CutPrefix(s.Key, identityLeasePrefix); ok {
		w.changeLease(id, ev)
	}
	w.disputeStored(ev)
	w.matched = w.takeChange(ev)
}

// Where the objects that checks read live in etcd, by the layout that
// Kubernetes and the reference share.
const (
	storageVersionPrefix = "/registry/storageversions/"
	identityLeasePrefix  = "/registry/leases/kube-system/"
)

// storageVersionName is the name of the StorageVersion that changed, if the
// change is of one. An object's own name would not do: a ClusterRole may well
// be called like one.
func storageVersionName(s *history.Stored) (string, bool) {
	return strings.CutPrefix(s.Key, storageVersionPrefix)
}

// changedStorageVersion gives the name and new content of a StorageVersion that
// an event changes; the content is nil when the object was deleted.
func changedStorageVersion(ev *history.Event) (name string, now *history.StorageVersion, ok bool) {
	if ev.Stored == nil {
		return "", nil, false
	}
	name, ok = storageVersionName(ev.Stored)
	if !ok || ev.Stored.Type == history.StoredDelete {
		return name, nil, ok
	}
	if ev.Stored.StorageVersion == nil {
		return name, &history.StorageVersion{}, true
	}
	return name, ev.Stored.StorageVersion, true
}

// takeRequest notes what the harness does on purpose: which custom resources it
// defines, and what it does to StorageVersions behind the control plane's back.
func (w *World) takeRequest(ev *history.Event) {
	r := ev.Request
	w.matched = w.takeAnswer(ev)
	if d := r.Defines; d != nil && !d.Remote {
		// Also a definition without an answer may have come into force.
		w.custom[groupResource{d.Group, d.Resource}] = true
	}
	if r.Group != storageVersionGroup || !strings.HasPrefix(r.Resource, "storageversions") || r.Class == history.ClassInvalid && !r.Lasting || !accepted(r) {
		return
	}
	switch r.Verb {
	case "get", "list", "watch":
		return
	}
	if v := w.versions[r.Name]; v != nil {
		v.tampered, v.tamperedAt = true, ev.At
	}
}

const storageVersionGroup = "internal.apiserver.k8s.io"

func (w *World) takeHold(ev *history.Event) {
	switch ev.Hold.Phase {
	case history.PhaseBegin:
		w.hold = &openHold{seq: ev.Seq, revision: ev.Hold.Revision, releases: ev.Hold.Releases}
	case history.PhaseEnd:
		// The runner records the end of a hold only when the etcd recorder has
		// told everything up to its revision.
		w.reach(ev.Hold.Revision)
		w.holds = append(w.holds, HoldSeen{Name: ev.Hold.Name, Releases: ev.Hold.Releases})
	}
}

func (w *World) takeGap(g *history.Gap) {
	if g.Source == history.GapOfClock {
		w.untimely = g.Message
		return
	}
	if !slices.Contains(sources, Source(g.Source)) {
		w.alien++
		return
	}
	w.gaps[Source(g.Source)]++
}

// hear notes a revision that etcd had.
func (w *World) hear(revision int64) { w.heard = max(w.heard, revision) }

// reach moves the watermark.
func (w *World) reach(revision int64) {
	if revision <= w.Revision {
		return
	}
	w.Revision = revision
}

// whole is whether nothing was missed so far of what the sources tell.
func (w *World) whole(of []Source) bool {
	if w.torn || w.alien > 0 || w.untimely != "" {
		return false
	}
	for _, s := range of {
		if w.gaps[s] > 0 {
			return false
		}
	}
	return true
}
