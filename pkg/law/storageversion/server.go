package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// server is one process of a member's API server.
type server struct {
	*fact.Process
	f *facts
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
	// guarded are the writes that it answered, by object, and passing the requests that pass
	// its barrier. barred is since when it was seen to refuse writes before it had been ready,
	// and when the last one of them was sent.
	guarded map[string][]*request
	passing []*request
	barred  fact.Span
}

type servers struct {
	all []*server
	of  map[*fact.Process]*server
}

// servers are the processes of the API servers, in the order of members and of time.
func (f *facts) servers() *servers {
	type key struct{}
	return fact.Cached(f.History, key{}, func() *servers {
		d := &servers{of: map[*fact.Process]*server{}}
		for _, m := range f.Header.Members {
			for _, p := range f.Processes(m.Name, history.ComponentAPIServer) {
				s := &server{
					Process: p, f: f, id: m.ServerID, since: f.RevisionBy(p.Started.Latest), until: f.LastTold(),
					guarded: map[string][]*request{}, barred: fact.Span{Begin: fact.Forever, End: fact.Never},
				}
				if before := d.of[p.Before]; before != nil {
					before.until = s.since
				}
				s.ready, s.revision = f.FirstReady(p), f.ReadyRevision(p)
				d.all, d.of[p] = append(d.all, s), s
			}
			for _, look := range f.Looks(m.Name) {
				if s := d.at(f, m.Name, look.Stamp); s != nil {
					s.looks = append(s.looks, look)
				}
			}
		}
		for _, r := range f.requests {
			if r.s = d.answered(f, r); r.s != nil {
				r.s.answer(r)
			}
		}
		return d
	})
}

// at is the process that answered at a moment; nil where that is not certain.
func (d *servers) at(f *facts, member string, s fact.Stamp) *server {
	return d.of[f.ProcessAt(member, history.ComponentAPIServer, f.When(s))]
}

// answered is the process that answered a request; nil where that is not certain. A write that was
// never answered, or late, is of one that lived before etcd made it.
func (d *servers) answered(f *facts, r *request) *server {
	at := f.When(r.Stamp)
	if w := f.Write(r.member, r.write); w != nil && w.InEtcd() {
		at.Latest = max(at.Earliest, min(at.Latest, f.When(w.Stored).Latest))
	}
	return d.of[f.ProcessAt(r.member, history.ComponentAPIServer, at)]
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

// sharesIdentity is whether the server of another member lives at an instant, has been ready, and
// reports under the same identity.
func (s *server) sharesIdentity(at int64) bool {
	return slices.ContainsFunc(s.f.Members(), func(member string) bool {
		other := s.f.upAt(member, at)
		return member != s.Member && other != nil && !other.silent() && other.id == s.id && other.readyBy(at)
	})
}

// readyBy is whether it had been ready by an instant.
func (s *server) readyBy(at int64) bool { return s.ready != nil && s.ready.Latest <= at }

// lookBy is the last look at it by an instant; nil if there is none.
func (s *server) lookBy(at int64) *fact.Look {
	if s == nil || len(s.looks) == 0 || s.looks[0].At > at {
		return nil
	}
	return s.looks[fact.Last(s.looks, at, func(l *fact.Look) int64 { return l.At })]
}

// registration gives the change by which the process announced what it writes; nil where its
// server's entry was the same when it started: it may have found nothing to change, and what
// changed later is then the repair of what others did. The entry that counts is the one that
// stood in the end, so that what others wrote in between is not taken for its word.
func (s *server) registration(name string) *fact.EntryChange {
	of := s.f.StorageVersion(name).Entry(s.id)
	put := fact.Where(of.In(s.since, s.until), func(c fact.EntryChange) bool { return c.There })
	before := of.At(s.since)
	if len(put) == 0 || before != nil && fact.SameEntry(*before.Is, *put[len(put)-1].Is) {
		return nil
	}
	return &put[slices.IndexFunc(put, func(c fact.EntryChange) bool { return fact.SameEntry(*c.Is, *put[len(put)-1].Is) })]
}

// held is whether at some time in the life of the process, up to a revision, its server had
// an entry that fits. What the process before it has left counts only if the server took
// part meanwhile: any server may remove the entry of one that has departed.
func (s *server) held(name string, until int64, fits func(*history.Entry) bool) bool {
	of := s.f.StorageVersion(name).Entry(s.id)
	if e := of.At(s.since); e != nil && fits(e.Is) && s.f.Participation(s.id).During(s.since, until) {
		return true
	}
	return slices.ContainsFunc(of.In(s.since, until), func(c fact.EntryChange) bool { return c.There && fits(c.Is) })
}

func anyEntry(*history.Entry) bool { return true }

// serverOf is the process of a member that had started last before it or another one made
// a revision; nil if none had.
func (f *facts) serverOf(member string, revision int64) (found *server) {
	for _, s := range f.servers().all {
		if s.Member == member && s.since < revision {
			found = s
		}
	}
	return found
}

// lastServer is the process that had started last by an instant; nil if none had.
func (f *facts) lastServer(member string, at int64) *server {
	return f.servers().of[f.LastProcess(member, history.ComponentAPIServer, at)]
}

// upAt is the process of a member that lives at an instant and had been looked at; nil if
// there is none.
func (f *facts) upAt(member string, at int64) *server {
	if s := f.lastServer(member, at); s.lookBy(at) != nil && s.Alive().At(at) != fact.No {
		return s
	}
	return nil
}

// takesPart is while a server takes part, and hasEntry while it has an entry.
func (f *facts) takesPart(id string) fact.Signal {
	return f.Participation(id).Signal(f.History)
}

func (f *facts) hasEntry(v *fact.StorageVersion, id string) fact.Signal {
	return v.Entry(id).While(f.History, anyEntry)
}

// hostsNot is while a server is known not to host a resource.
func (f *facts) hostsNot(id, name string) fact.Signal {
	of := fact.Where(f.servers().all, func(s *server) bool { return s.id == id })
	return fact.Follow(of, func(s *server) fact.Moment { return s.Started }, func(s *server) bool { return s.hosts(name) == fact.No })
}
