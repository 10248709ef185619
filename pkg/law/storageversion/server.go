package storageversion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// server is one process of a member's API server.
type server struct {
	*fact.Process
	// id is its identity, by which it takes part and reports.
	id string
	// since is a revision that etcd had when it started: what it wrote is above. until is
	// one that etcd had when its life was over, or the last that was told.
	since, until int64
	// ready is its first answer of 200 of /readyz, nil if there is none, and revision one
	// that etcd had right after, 0 if none was read.
	ready    *fact.Moment
	revision int64
	// looks are those at what it hosts.
	looks []*fact.Look
}

// silent is whether it was started without the StorageVersion API: it reports nothing.
func (s *server) silent() bool { return s != nil && s.Without(history.FeatureStorageVersions) }

// hosts is whether it hosts the built-in resource of a StorageVersion.
func (s *server) hosts(name string) fact.Truth {
	if s == nil || len(s.looks) == 0 {
		return fact.Unknown
	}
	return fact.Of(s.looks[0].Hosts(name))
}

// readyBy is whether it had been ready by an instant.
func (s *server) readyBy(at int64) bool { return s.ready != nil && s.ready.Latest <= at }

// derived is what follows from all that was observed up to seq.
type derived struct {
	seq     int64
	servers map[string][]*server
	of      map[*fact.Process]*server
	answers map[*server]map[string][]*request
	passes  map[*server][]*request
	parts   map[string]fact.Signal
	able    map[time.Duration]fact.Signal
}

// derive gives the derived facts, computed again only if more was observed.
func (f *facts) derive() *derived {
	d := &f.derived
	if d.servers != nil && d.seq == f.Seq {
		return d
	}
	*d = derived{seq: f.Seq, servers: map[string][]*server{}, of: map[*fact.Process]*server{}, parts: map[string]fact.Signal{}, able: map[time.Duration]fact.Signal{}}
	for _, m := range f.Header.Members {
		for _, p := range f.Processes(m.Name, history.ComponentAPIServer) {
			s := &server{Process: p, id: m.ServerID, since: f.RevisionBy(p.Started.Latest), until: f.LastTold()}
			if n := len(d.servers[m.Name]); n > 0 {
				d.servers[m.Name][n-1].until = s.since
			}
			f.answerReady(s)
			d.servers[m.Name], d.of[p] = append(d.servers[m.Name], s), s
		}
		for _, look := range f.Looks(m.Name) {
			if s := d.of[f.ProcessAt(m.Name, history.ComponentAPIServer, f.When(look.Stamp))]; s != nil {
				s.looks = append(s.looks, look)
			}
		}
	}
	f.sortRequests(d)
	return d
}

// answerReady notes the first ready answer of a process, and the first revision that was
// read after one.
func (f *facts) answerReady(s *server) {
	for _, a := range f.ReadyAnswers(s.Member) {
		if a.Code != 200 || a.Earliest < s.Started.Earliest || s.Exited != nil && a.Latest > s.Exited.Latest {
			continue
		}
		if s.ready == nil {
			first := a.Moment
			s.ready = &first
		}
		if s.revision == 0 {
			s.revision = a.EtcdRevision
		}
	}
}

// servers are the processes of a member's API server, in the order of time.
func (f *facts) servers(member string) []*server { return f.derive().servers[member] }

// allServers are those of all members.
func (f *facts) allServers() []*server {
	var out []*server
	for _, m := range f.Members() {
		out = append(out, f.servers(m)...)
	}
	return out
}

// serverAt is the process that answered at a moment; nil where that is not certain.
func (f *facts) serverAt(member string, m fact.Moment) *server {
	return f.derive().of[f.ProcessAt(member, history.ComponentAPIServer, m)]
}

// serverOf is the process of a member that had started last before it or another one made
// a revision; nil if none had.
func (f *facts) serverOf(member string, revision int64) *server {
	var found *server
	for _, s := range f.servers(member) {
		if s.since < revision {
			found = s
		}
	}
	return found
}

// lastServer is the process that had started last by an instant; nil if none had.
func (f *facts) lastServer(member string, at int64) *server {
	return f.derive().of[f.LastProcess(member, history.ComponentAPIServer, at)]
}

// upAt is the process of a member that lives and was ready at an instant, and of which it
// is known what it hosts; nil if there is none.
func (f *facts) upAt(member string, at int64) *server {
	s := f.lastServer(member, at)
	if s == nil || s.Alive().At(at) == fact.No || !s.knownBy(at) {
		return nil
	}
	return s
}

// knownBy is whether it had been looked at by an instant.
func (s *server) knownBy(at int64) bool { return s != nil && s.lookBy(at) != nil }

// lookBy is the last look at it by an instant; nil if there is none.
func (s *server) lookBy(at int64) *fact.Look {
	var found *fact.Look
	for _, look := range s.looks {
		if look.At <= at {
			found = look
		}
	}
	return found
}

// serverID is the identity of a member's API server.
func (f *facts) serverID(member string) string {
	for _, m := range f.Header.Members {
		if m.Name == member {
			return m.ServerID
		}
	}
	return ""
}

// takesPart is while a server takes part.
func (f *facts) takesPart(id string) fact.Signal {
	d := f.derive()
	s, ok := d.parts[id]
	if !ok {
		s = f.Participation(id).Signal(f.History)
		d.parts[id] = s
	}
	return s
}

// hostingDoubts are the processes that were ready for long and never looked at, and where
// what servers say differs from each other or from etcd.
func (f *facts) hostingDoubts(lookedWithin time.Duration) []string {
	out := f.HostingConflicts()
	for _, s := range f.allServers() {
		if s.ready == nil || len(s.looks) > 0 && s.revision > 0 {
			continue
		}
		end := f.Over()
		if s.Exited != nil {
			end = *s.Exited
		}
		if least, _ := s.ready.Until(end); least > lookedWithin {
			out = append(out, fmt.Sprintf("process %d of the API server of %s was ready, and it is not known what it hosted and at which revision of etcd (event %d)", s.Instance, s.Member, s.ready.Seq))
		}
	}
	return append(out, f.storedConflicts()...)
}

// storedConflicts are where etcd has what servers say that they do not host.
func (f *facts) storedConflicts() []string {
	seen := map[string]bool{}
	for k, seq := range f.kinds {
		r, ok := f.ResourceOf(k.apiVersion, k.kind)
		if ok && f.Hosted(r) == fact.HostedOtherwise && !f.explained(r) {
			seen[fmt.Sprintf("etcd has %s, and no server gives a storage version hash for it (event %d)", r.StorageVersionName(), seq)] = true
		}
	}
	for _, w := range f.Writes() {
		r, ok := f.ResourceOfWrite(w)
		if !ok || f.Defined(r) {
			continue
		}
		s := f.serverOf(w.Member, w.Stored.Revision)
		if s == nil || len(s.looks) == 0 || w.Stored.Revision <= s.looks[0].EtcdRevision {
			continue
		}
		switch x, listed := s.looks[0].Find(r); {
		case !listed:
			seen[fmt.Sprintf("%s stores %s, which its discovery does not list", w.Member, r.Resource)] = true
		case !x.Persisted && !x.Custom && !x.Aggregated:
			seen[fmt.Sprintf("%s stores %s, for which its discovery gives no storage version hash", w.Member, r.Resource)] = true
		}
	}
	out := make([]string, 0, len(seen))
	for why := range seen {
		out = append(out, why)
	}
	slices.Sort(out)
	return out
}

// explained is whether any server has a reason to have no StorageVersion for a resource
// that is stored.
func (f *facts) explained(r fact.Resource) bool {
	if f.Defined(r) || !fact.BuiltIn(history.HostedResource{Group: r.Group, Resource: r.Resource, Persisted: true}) {
		return true
	}
	for _, m := range f.Members() {
		for _, look := range f.Looks(m) {
			if x, ok := look.Find(r); ok && (x.Persisted || x.Custom || x.Aggregated) {
				return true
			}
		}
	}
	return false
}

// definedName is the StorageVersion's name of the custom resource that a definition of a
// name, <resource>.<group>, defines.
func definedName(name string) string {
	resource, group, _ := strings.Cut(name, ".")
	return fact.Resource{Group: group, Resource: resource}.StorageVersionName()
}
