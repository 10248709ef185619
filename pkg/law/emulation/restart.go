package emulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// restart is a server that behaves or runs otherwise than the last process of another release
// before it, and a resource of which that one or an earlier one took writes. A process of its own
// release that ended before it has settled nothing for it.
type restart struct {
	*server
	before   *server
	ready    fact.Moment
	resource fact.Resource
	tries    []*fact.Write
}

// restarts are those that fit, of servers that became ready: that they do RO-02 judges.
func (f *Facts) restarts(fits func(s, before *server) bool) []restart {
	var out []restart
	all := f.servers()
	for _, s := range all {
		other := s.Before
		for other != nil && other.Release == s.Release {
			other = other.Before
		}
		i := slices.IndexFunc(all, func(o *server) bool { return o.Process == other })
		ready := f.FirstReady(s.Process)
		if i < 0 || ready == nil || !fits(s, all[i]) {
			continue
		}
		for _, w := range f.Header.Writes {
			r := fact.Resource{Group: w.Group, Resource: w.Resource}
			tried := fact.Where(f.tried(s.Member, r), func(w *fact.Write) bool { return w.Answer.From >= s.Started.Latest })
			accepted := func(w *fact.Write) bool { return w.Accepted && w.Answer.At < s.Started.Earliest }
			if slices.ContainsFunc(f.tried(s.Member, r), accepted) {
				out = append(out, restart{s, all[i], *ready, r, tried})
			}
		}
	}
	return out
}

// tried are the writes of a built-in resource through a member, in the order in which they were
// sent.
func (f *Facts) tried(member string, r fact.Resource) []*fact.Write {
	type of struct {
		member string
		fact.Resource
	}
	type key struct{}
	return fact.Cached(f.History, key{}, func() map[of][]*fact.Write {
		out := map[of][]*fact.Write{}
		for _, w := range f.Writes() {
			if w.Guarded && w.Answer.Seq > 0 {
				k := of{w.Member, w.Target}
				out[k] = append(out[k], w)
			}
		}
		for _, all := range out {
			slices.SortStableFunc(all, func(a, b *fact.Write) int { return int(a.Answer.From - b.Answer.From) })
		}
		return out
	})[of{member, r}]
}

// Entry is an obligation of the server about the resource.
func (r restart) Entry() law.Entry {
	return law.Of(fmt.Sprintf("%s at process %d of %s", r.resource.StorageVersionName(), r.Instance, r.Member), r.ready).By(r.Member)
}

// takes is the law by which a server that was restarted takes writes, within a bound of being
// ready.
func takes(over func(*Facts) []restart, breaks func(restart, law.Entry) law.Entry, tag func(restart) []string) law.Law[*Facts] {
	return law.Deadline[*Facts, restart]{
		Bound:   "takesWritesWithin",
		Over:    over,
		Begin:   law.Once(func(r restart) fact.Moment { return r.ready }),
		Running: restart.able,
		Looks:   restart.looks,
		Void:    func(r restart) []law.Void { return law.Ended(r.Process) },
		Breach: func(r restart, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
			return fmt.Sprintf("%s was ready with %s after %s, and took no write of %s for %s",
				r.Member, r.Release, r.before.Release, r.resource.Resource, took.Round(100*time.Millisecond))
		},
		Breaks: breaks,
		Tag:    func(r restart, _, _ fact.Moment) []string { return tag(r) },
	}
}

// able is while nothing keeps the server from reading and writing.
func (r restart) able() fact.Signal { return fact.And(r.f.Healthy(r.Member), r.f.EtcdQuorum()) }

// looks are the writes as looks at whether the server takes them. One without an answer says
// nothing.
func (r restart) looks() []law.Look {
	answered := fact.Where(r.tries, func(w *fact.Write) bool { return r.Exited == nil || w.Answer.At <= r.Exited.Earliest })
	return fact.Each(answered, func(w *fact.Write) law.Look {
		return law.Look{Asked: w.Answer.From, Answered: w.Answer.At, Until: w.Answer.From, Seq: w.Answer.Seq, Shows: w.Accepted}
	})
}

// rolledBack is whether a server has the older binaries again, and behaves like the process
// before, which emulated their version, and no server has raised what it emulates yet.
func (f *Facts) rolledBack(s, before *server) bool {
	return !s.emulates && before.emulates && s.version == before.version && release.Compare(s.binary, before.binary) < 0 &&
		!slices.ContainsFunc(f.servers(), func(o *server) bool {
			return o.Started.Earliest < s.Started.Latest && release.Compare(o.version, s.version) > 0
		})
}

// raised is whether a server has the binaries of the process before, and behaves like a newer
// version; lowered is whether it behaves like an older one.
func raised(s, before *server) bool {
	return s.binary == before.binary && release.Compare(s.version, before.version) > 0
}

func lowered(s, before *server) bool {
	return s.binary == before.binary && release.Compare(s.version, before.version) < 0
}
