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

	memberOf   map[string]string // server ID → member
	serverOf   map[string]string // member → server ID
	resourceOf map[groupKind]groupResource
	servers    map[string]*server // by member
	versions   map[string]*storageVersion
	leases     map[string]*lease // identity Leases by server ID
	custom     map[groupResource]bool
	hold       *openHold
	holds      []HoldSeen
	faults     []*FaultSeen
	gaps       map[Source]int64
	end        *history.End
	later      questions
	outOfOrder int64
}

type groupKind struct{ group, kind string }

type groupResource struct{ group, resource string }

// server is a member's API server over all its instances.
type server struct {
	member    string
	id        string
	instances []*instance
	// hosted is what its latest discovery listed, and instance whose it was.
	hosted []history.HostedResource
}

// instance is one process of an API server.
type instance struct {
	server   *server
	number   int
	release  string
	startSeq int64
	// startedAt and exitedAt are times; exitedAt is 0 while it lives.
	startedAt, exitedAt int64
	// startRevision is the watermark when it started: what it wrote is above.
	startRevision int64
	// ready is its first answer of 200, if any.
	ready *readiness
	// discovered is the first discovery that was fetched from it.
	discovered *history.Discovery
	discSeq    int64
}

type readiness struct {
	seq, at, revision int64
}

// storageVersion is one StorageVersion object as etcd has it.
type storageVersion struct {
	name string
	// seq and revision of the latest change; deleted if it is gone.
	seq, revision int64
	at            int64
	deleted       bool
	now           *history.StorageVersion
	// entries is what each server has reported over time.
	entries map[string][]entryChange
}

// entryChange is a change of one server's entry in one StorageVersion.
type entryChange struct {
	seq, at, revision int64
	present           bool
	entry             history.Entry
}

// keptChanges is how many changes of one entry are remembered. Questions are
// asked about the recent past only: a write that waits for its revision.
const keptChanges = 32

// lease is one identity Lease.
type lease struct {
	created, deleted int64 // revisions; deleted is 0 while it is there
}

type openHold struct {
	seq, revision int64
	name          string
	releases      map[string]string
}

func newWorld(h history.Header) *World {
	w := &World{
		Header:     h,
		memberOf:   map[string]string{},
		serverOf:   map[string]string{},
		resourceOf: map[groupKind]groupResource{},
		servers:    map[string]*server{},
		versions:   map[string]*storageVersion{},
		leases:     map[string]*lease{},
		custom:     map[groupResource]bool{},
		gaps:       map[Source]int64{},
	}
	for _, m := range h.Members {
		w.memberOf[m.ServerID] = m.Name
		w.serverOf[m.Name] = m.ServerID
		w.servers[m.Name] = &server{member: m.Name, id: m.ServerID}
	}
	for _, r := range h.Writes {
		w.resourceOf[groupKind{r.Group, r.Kind}] = groupResource{r.Group, r.Resource}
	}
	return w
}

// take brings the World up to date with an event.
func (w *World) take(ev *history.Event) {
	w.Now = ev.At
	switch {
	case ev.Stored != nil:
		w.takeStored(ev)
	case ev.Process != nil:
		w.takeProcess(ev)
	case ev.Ready != nil:
		w.takeReady(ev)
	case ev.Discovery != nil:
		w.takeDiscovery(ev)
	case ev.Hold != nil:
		w.takeHold(ev)
	case ev.Fault != nil:
		w.takeFault(ev)
	case ev.Gap != nil:
		w.gaps[Source(ev.Gap.Source)]++
	case ev.End != nil:
		end := *ev.End
		w.end = &end
	}
}

func (w *World) takeStored(ev *history.Event) {
	s := ev.Stored
	if s.Revision < w.Revision {
		// Several keys may change in one revision, none in an older one.
		w.outOfOrder++
		w.gaps[SourceEtcd]++
		return
	}
	if name, ok := strings.CutPrefix(s.Key, storageVersionPrefix); ok {
		w.changeStorageVersion(name, ev)
	}
	if id, ok := strings.CutPrefix(s.Key, identityLeasePrefix); ok {
		w.changeLease(id, s)
	}
	w.reach(s.Revision)
}

// Where the objects that checks read live in etcd, by the layout that
// Kubernetes and the reference share.
const (
	storageVersionPrefix = "/registry/storageversions/"
	identityLeasePrefix  = "/registry/leases/kube-system/"
)

func (w *World) changeStorageVersion(name string, ev *history.Event) {
	s := ev.Stored
	v := w.versions[name]
	if v == nil {
		v = &storageVersion{name: name, entries: map[string][]entryChange{}}
		w.versions[name] = v
	}
	v.seq, v.at, v.revision = ev.Seq, ev.At, s.Revision
	v.deleted = s.Type == history.StoredDelete
	v.now = &history.StorageVersion{}
	if s.StorageVersion != nil && !v.deleted {
		v.now = s.StorageVersion
	}
	for id, changes := range v.entries {
		if changes[len(changes)-1].present && !slices.ContainsFunc(v.now.Entries, func(e history.Entry) bool { return e.ServerID == id }) {
			v.entries[id] = keep(changes, entryChange{seq: ev.Seq, at: ev.At, revision: s.Revision})
		}
	}
	for _, e := range v.now.Entries {
		changes := v.entries[e.ServerID]
		if n := len(changes); n > 0 && changes[n-1].present && sameEntry(changes[n-1].entry, e) {
			continue
		}
		v.entries[e.ServerID] = keep(changes, entryChange{seq: ev.Seq, at: ev.At, revision: s.Revision, present: true, entry: e})
	}
}

func keep(changes []entryChange, c entryChange) []entryChange {
	if len(changes) >= keptChanges {
		changes = append(changes[:0], changes[1:]...)
	}
	return append(changes, c)
}

func (w *World) changeLease(id string, s *history.Stored) {
	if s.Type == history.StoredDelete {
		if l := w.leases[id]; l != nil {
			l.deleted = s.Revision
		}
		return
	}
	if s.Lease == nil || !s.Lease.Identity {
		return
	}
	l := w.leases[id]
	if l == nil || l.deleted > 0 {
		w.leases[id] = &lease{created: s.Created}
	}
}

func (w *World) takeProcess(ev *history.Event) {
	p := ev.Process
	srv := w.servers[ev.Member]
	if srv == nil || p.Component != history.ComponentAPIServer {
		return
	}
	switch p.Change {
	case history.ProcessStarted:
		srv.instances = append(srv.instances, &instance{
			server: srv, number: p.Instance, release: p.Release,
			startSeq: ev.Seq, startedAt: ev.At, startRevision: w.Revision,
		})
	case history.ProcessExited:
		for _, i := range srv.instances {
			if i.number == p.Instance && i.exitedAt == 0 {
				i.exitedAt = ev.At
			}
		}
	}
}

func (w *World) takeReady(ev *history.Event) {
	i := w.instanceAt(ev.Member, ev)
	if i != nil && i.ready == nil && ev.Ready.Code == 200 {
		i.ready = &readiness{seq: ev.Seq, at: ev.At, revision: ev.Ready.Revision}
	}
}

func (w *World) takeDiscovery(ev *history.Event) {
	srv := w.servers[ev.Member]
	if srv == nil {
		return
	}
	srv.hosted = ev.Discovery.Resources
	for _, r := range srv.hosted {
		w.resourceOf[groupKind{r.Group, r.Kind}] = groupResource{r.Group, r.Resource}
		if r.Custom {
			w.custom[groupResource{r.Group, r.Resource}] = true
		}
	}
	if i := w.instanceAt(ev.Member, ev); i != nil && i.discovered == nil {
		d := *ev.Discovery
		i.discovered, i.discSeq = &d, ev.Seq
	}
}

func (w *World) takeHold(ev *history.Event) {
	switch ev.Hold.Phase {
	case history.PhaseBegin:
		w.hold = &openHold{seq: ev.Seq, revision: ev.Hold.Revision, name: ev.Hold.Name, releases: ev.Hold.Releases}
	case history.PhaseEnd:
		// The runner records the end of a hold only when the etcd recorder has
		// told everything up to its revision.
		w.reach(ev.Hold.Revision)
		w.holds = append(w.holds, HoldSeen{Name: ev.Hold.Name, Releases: ev.Hold.Releases})
		w.hold = nil
	}
}

func (w *World) takeFault(ev *history.Event) {
	f := ev.Fault
	switch f.Phase {
	case history.PhaseInject:
		w.faults = append(w.faults, &FaultSeen{ID: f.ID, Type: f.Type, Action: f.Action, Member: ev.Member, Component: f.Component})
	case history.PhaseWitness, history.PhaseHeal:
		for _, seen := range w.faults {
			if seen.ID != f.ID || seen.Member != ev.Member {
				continue
			}
			if f.Phase == history.PhaseHeal {
				seen.Healed = true
			} else if f.Proof != "" {
				seen.Witness = f.Proof
			}
		}
	}
}

// reach moves the watermark and answers the questions that waited for it.
func (w *World) reach(revision int64) {
	if revision <= w.Revision {
		return
	}
	w.Revision = revision
	w.later.answer(revision)
}

// when runs do as soon as everything up to the revision has been seen; never,
// if the history ends before.
func (w *World) when(revision int64, do func()) {
	if revision <= w.Revision {
		do()
		return
	}
	w.later.ask(revision, do)
}

// instanceAt gives the process that answered an event of a member: the last
// one that had started when it was complete.
func (w *World) instanceAt(member string, ev *history.Event) *instance {
	srv := w.servers[member]
	if srv == nil {
		return nil
	}
	for i := len(srv.instances) - 1; i >= 0; i-- {
		in := srv.instances[i]
		if in.startedAt <= ev.At {
			if in.exitedAt > 0 && ev.From > in.exitedAt {
				return nil
			}
			return in
		}
	}
	return nil
}

// entryAt gives a server's entry in a StorageVersion as it was at a revision.
func (w *World) entryAt(name, serverID string, revision int64) (history.Entry, bool) {
	c, ok := w.changeAt(name, serverID, revision)
	return c.entry, ok && c.present
}

// changeAt gives the change that was in force at a revision.
func (w *World) changeAt(name, serverID string, revision int64) (entryChange, bool) {
	v := w.versions[name]
	if v == nil {
		return entryChange{}, false
	}
	changes := v.entries[serverID]
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].revision <= revision {
			return changes[i], true
		}
	}
	return entryChange{}, false
}

// registered gives the first change by which an instance announced something
// new in a StorageVersion; an unchanged restart has none.
func (w *World) registered(in *instance, name string) (entryChange, bool) {
	v := w.versions[name]
	if v == nil {
		return entryChange{}, false
	}
	for _, c := range v.entries[in.server.id] {
		if c.revision > in.startRevision && c.present {
			return c, true
		}
	}
	return entryChange{}, false
}

// participates is whether the server's identity Lease was there at a revision.
func (w *World) participates(serverID string, revision int64) bool {
	l := w.leases[serverID]
	return l != nil && l.created <= revision && (l.deleted == 0 || l.deleted > revision)
}

// participants are the servers whose identity Lease is there now.
func (w *World) participants() []string {
	var out []string
	for id, l := range w.leases {
		if l.deleted == 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// resource gives the resource of a stored object, if it is known.
func (w *World) resource(s *history.Stored) (groupResource, bool) {
	group, _, found := strings.Cut(s.APIVersion, "/")
	if !found {
		group = ""
	}
	gr, ok := w.resourceOf[groupKind{group, s.ObjectKind}]
	return gr, ok
}

// doubts are the reasons not to trust a pass of any check.
func (w *World) doubts(damage []string) []string {
	var out []string
	for _, d := range damage {
		out = append(out, "the history is damaged: "+d)
	}
	switch {
	case w.end == nil:
		out = append(out, "the history has no end: the run was cut off")
	case !w.end.Complete:
		out = append(out, "the scenario was not played to its end: "+w.end.Message)
	}
	for _, f := range w.faults {
		if f.Witness == "" {
			out = append(out, fmt.Sprintf("the fault %s (%s %s on %s) never proved that it bit", f.ID, f.Type, f.Action, f.Member))
		}
	}
	return out
}

func (w *World) faultsSeen() []FaultSeen {
	out := make([]FaultSeen, 0, len(w.faults))
	for _, f := range w.faults {
		out = append(out, *f)
	}
	return out
}

// objectName is the name of a resource's StorageVersion by KEP-2339.
func objectName(group, resource string) string {
	if group == "" {
		group = coreGroup
	}
	return group + "." + resource
}

// coreGroup stands in StorageVersion names for the empty core group.
const coreGroup = "core"

// guardedByBarrier is whether KEP-2339 has a server publish a resource.
func guardedByBarrier(r history.HostedResource) bool {
	return r.Persisted && !r.Custom && !r.Aggregated
}

func sameEntry(a, b history.Entry) bool {
	return a.ServerID == b.ServerID && a.Encoding == b.Encoding &&
		sameSet(a.Decodable, b.Decodable) && sameSet(a.Served, b.Served)
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

func sameString(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func showCommon(c *string) string {
	if c == nil {
		return "none"
	}
	return *c
}
