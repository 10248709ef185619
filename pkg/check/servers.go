package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// server is a member's API server over all its instances.
type server struct {
	member string
	id     string
	// instances are the last few, oldest first; started counts all.
	instances []*instance
	started   int
	// hosted is what its latest discovery listed, hostedBy the process that
	// answered, and hostedRevision etcd's revision then.
	hosted         []history.HostedResource
	listed         map[groupResource]history.HostedResource
	hostedBy       *instance
	hostedRevision int64
}

// instance is one process of an API server.
type instance struct {
	server   *server
	number   int
	startSeq int64
	// release that it was started at; empty if the history does not say.
	release string
	// off are the features that it was started without.
	off []string
	// first is whether no earlier process of the server was seen.
	first bool
	// startedAt and exitedAt are times; exitedAt is 0 while it lives.
	startedAt, exitedAt int64
	// startRevision is a revision that etcd had before it started: what it
	// wrote is above.
	startRevision int64
	// ready is its first answer of 200, if any.
	ready *readiness
	// discovered is the first discovery that was fetched from it.
	discovered *history.Discovery
	discSeq    int64
}

// readiness is the first ready answer, and the first revision that was read
// after one; 0 while there is none.
type readiness struct {
	seq, at, revision int64
}

// keptInstances is how many processes of one server are remembered. An event
// is about the running one, or about the one before it.
const keptInstances = 4

// current is the process that was started last, alive or not; nil if none was.
func (s *server) current() *instance {
	if s == nil || len(s.instances) == 0 {
		return nil
	}
	return s.instances[len(s.instances)-1]
}

// silent is whether the process was started without the StorageVersion API.
func (in *instance) silent() bool {
	return in != nil && slices.Contains(in.off, history.FeatureStorageVersions)
}

// knows is whether it is known what the server hosts now, by the word of the
// process that was started last.
func (s *server) knows() bool {
	return s != nil && s.hostedBy != nil && s.hostedBy == s.current()
}

func (w *World) takeProcess(ev *history.Event) {
	p := ev.Process
	w.takeDeath(ev)
	srv := w.servers[ev.Member]
	if srv == nil || p.Component != history.ComponentAPIServer {
		return
	}
	switch p.Change {
	case history.ProcessStarted:
		if before := srv.current(); before != nil && before.exitedAt == 0 {
			before.exitedAt = ev.At // they share a port, so it is gone
		}
		w.closeInstance(srv.current())
		in := &instance{
			server: srv, number: p.Instance, release: p.Release, off: p.Off, first: srv.started == 0,
			startSeq: ev.Seq, startedAt: ev.At, startRevision: max(w.Revision, w.heard),
		}
		srv.started++
		if len(srv.instances) >= keptInstances {
			srv.instances = append(srv.instances[:0], srv.instances[1:]...)
		}
		srv.instances = append(srv.instances, in)
	case history.ProcessExited:
		for _, in := range srv.instances {
			if in.number == p.Instance && in.exitedAt == 0 {
				in.exitedAt = ev.At
			}
		}
	}
}

func (w *World) takeReady(ev *history.Event) {
	in := w.instanceAt(ev.Member, ev)
	if in == nil || ev.Ready.Code != 200 {
		return
	}
	if in.ready == nil {
		in.ready = &readiness{seq: ev.Seq, at: ev.At}
	}
	if in.ready.revision == 0 {
		in.ready.revision = ev.Ready.Revision
	}
}

func (w *World) takeDiscovery(ev *history.Event) {
	srv := w.servers[ev.Member]
	if srv == nil {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	srv.hosted, srv.hostedBy, srv.hostedRevision = ev.Discovery.Resources, in, ev.Discovery.Revision
	srv.listed = make(map[groupResource]history.HostedResource, len(srv.hosted))
	for _, r := range srv.hosted {
		srv.listed[groupResource{r.Group, r.Resource}] = r
	}
	w.learn()
	if in != nil && in.discovered == nil {
		in.discovered, in.discSeq = ev.Discovery, ev.Seq
	}
}

// instanceAt gives the process that answered an event of a member. It is nil
// where two may have: an answer that came while one process took the place of
// the other, over a connection from before, is nobody's.
func (w *World) instanceAt(member string, ev *history.Event) *instance {
	srv := w.servers[member]
	if srv == nil {
		return nil
	}
	from := ev.From
	if from == 0 {
		from = ev.At
	}
	var found *instance
	for i := len(srv.instances) - 1; i >= 0; i-- {
		in := srv.instances[i]
		if in.exitedAt > 0 && from > in.exitedAt {
			break // and so are those before it
		}
		if found != nil {
			return nil
		}
		found = in
	}
	return found
}

// running are the processes started last, in the order of the members.
func (w *World) running() []*instance {
	var out []*instance
	for _, member := range w.order {
		if in := w.servers[member].current(); in != nil {
			out = append(out, in)
		}
	}
	return out
}

// perInstance keeps something for the process of each API server that runs
// now, and forgets it when another takes its place.
type perInstance[T any] struct {
	slots map[string]*slot[T]
}

type slot[T any] struct {
	in   *instance
	kept T
}

// of gives what is kept for the process, at first the zero value. It must only
// be called with the process started last.
func (p *perInstance[T]) of(in *instance) *T {
	if p.slots == nil {
		p.slots = map[string]*slot[T]{}
	}
	s := p.slots[in.server.member]
	if s == nil || s.in != in {
		s = &slot[T]{in: in}
		p.slots[in.server.member] = s
	}
	return &s.kept
}

// takeDeath notes a process that ended though nobody had it end. A run in which
// an etcd or an API server fell over is not the one that the scenario tells of:
// its restarts and gaps were nobody's plan. Controllers end by themselves when
// they lose their Lease, as they are meant to; and a member whose power was cut
// may need more than one attempt to come back.
func (w *World) takeDeath(ev *history.Event) {
	p := ev.Process
	if p.Change != history.ProcessExited || p.Expected || len(w.died) >= keptDeaths || w.powerless(ev.Member) {
		return
	}
	if p.Component == history.ComponentAPIServer || p.Component == history.ComponentEtcd {
		w.died = append(w.died, fmt.Sprintf("the %s of %s ended by itself (%s, event %d)", p.Component, ev.Member, p.Exit, ev.Seq))
	}
}

// keptDeaths bounds how many of them are told one by one.
const keptDeaths = 20

// up is whether a server runs, and was ready: only then it is asked what it hosts.
func up(srv *server) bool { return srv.knows() && srv.current().exitedAt == 0 }
