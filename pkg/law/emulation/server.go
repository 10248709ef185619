package emulation

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// server is a process of an API server whose release is a version.
type server struct {
	*fact.Process
	f *Facts
	behavior
	// binary is the version of its binaries, such as 1.37.
	binary string
	// emulates is whether it was told to behave unlike its binary.
	emulates bool
}

// servers are all of them, in the order in which they started.
func (f *Facts) servers() []*server {
	type key struct{}
	return fact.Cached(f.History, key{}, func() []*server {
		var out []*server
		for _, p := range f.AllProcesses() {
			played := release.Parse(p.Release)
			if b, ok := behaviorOf(played); ok && p.Component == history.ComponentAPIServer {
				binary, _ := release.Minor(played.Binary) // behaviorOf has read it
				out = append(out, &server{p, f, b, binary, emulates(played)})
			}
		}
		return out
	})
}

// emulating are the servers that were told to behave unlike their binaries.
func (f *Facts) emulating() []*server {
	return fact.Where(f.servers(), func(s *server) bool { return s.emulates })
}

// Entry is an obligation of the server.
func (s *server) Entry() law.Entry {
	return law.Of(fmt.Sprintf("process %d of %s", s.Instance, s.Member), s.Started).By(s.Member)
}

// owes is whether servers of a version have to be able to read what the server stores. Of one
// that emulates nothing that is asked here of its own version only.
func (s *server) owes(version string) bool {
	return s.version == version || s.emulates && s.readBy(version)
}

// perhaps is whether the process may have lived at a moment.
func (s *server) perhaps(m fact.Moment) bool {
	return s.Started.Earliest <= m.Latest && (s.Exited == nil || s.Exited.Latest >= m.Earliest)
}

// told is what the servers of a version that emulate nothing said of a resource in its
// StorageVersion.
type told struct {
	encodings []string
	// readable are the versions that they said they can read, by decodable or served or
	// stored versions.
	readable []string
	// seq is the number of the event that told it last.
	seq int64
}

// plain is what servers that emulate nothing told, by what they behave like and by the name
// of the StorageVersion. What the harness wrote is no word of theirs.
func (f *Facts) plain() map[behavior]map[string]*told {
	type key struct{}
	return fact.Cached(f.History, key{}, func() map[behavior]map[string]*told {
		out := map[behavior]map[string]*told{}
		for _, s := range f.servers() {
			if s.emulates {
				continue
			}
			if out[s.behavior] == nil {
				out[s.behavior] = map[string]*told{}
			}
			for _, v := range f.StorageVersions() {
				for _, c := range f.Announced(s.Process, v) {
					if f.harnessMade(v.Name, c.Stamp) == fact.No {
						out[s.behavior][v.Name] = out[s.behavior][v.Name].and(c)
					}
				}
			}
		}
		return out
	})
}

// and is what was told with one more entry.
func (t *told) and(c fact.EntryChange) *told {
	if t == nil {
		t = &told{}
	}
	t.encodings = union(t.encodings, c.Is.Encoding)
	t.readable = union(t.readable, slices.Concat(c.Is.Decodable, c.Is.Served, []string{c.Is.Encoding})...)
	t.seq = max(t.seq, c.Seq)
	return t
}

// union adds what is not there.
func union(of []string, more ...string) []string {
	for _, x := range more {
		if !slices.Contains(of, x) {
			of = append(of, x)
		}
	}
	return of
}

// harnessMade is whether the harness made a change of a StorageVersion.
func (f *Facts) harnessMade(name string, change fact.Stamp) fact.Truth {
	return f.ByHarness("internal.apiserver.k8s.io", "storageversions", name, change, false)
}

// plainEncodings are the versions in which servers of a version store a resource that are
// told nothing of what to emulate, whatever they are compatible with.
func (f *Facts) plainEncodings(version, name string) (out []string) {
	plain := f.plain()
	for b, of := range plain {
		if t := of[name]; b.version == version && t != nil {
			out = union(out, t.encodings...)
		}
	}
	return out
}

// differs is whether a server stores a resource otherwise than servers of its binary's
// version do that emulate nothing: only then it shows whether it emulates.
func (s *server) differs(name string) bool {
	own, emulated := s.f.plainEncodings(s.binary, name), s.f.plainEncodings(s.version, name)
	return len(own) > 0 && len(emulated) > 0 && !fact.SameSet(own, emulated)
}
