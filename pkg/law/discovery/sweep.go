package discovery

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// sweep is a thorough look at one member: everything in every form.
type sweep struct {
	member *member
	number int64
	// from and to are when it began and ended.
	from, to int64
	answers  []answer
	complete bool
	// process answered everything; nil where another one may have.
	process *fact.Process
	// wasReady is whether it was ready all the time, and settled whether nothing was
	// changed in the meantime, nor so shortly before that it need not show yet.
	wasReady, settled bool
	// steadily are the documents that steady gives, by path, and offers what offered gives.
	steadily map[string]*answer
	// local is what localView gives.
	local  *answer
	offers []string
}

// maxSweep is how many answers one sweep may have.
const maxSweep = 2000

func (m *member) sweep(number int64, last bool, a answer) {
	n := len(m.sweeps)
	if n == 0 || m.sweeps[n-1].number != number || m.sweeps[n-1].complete {
		m.sweeps = append(m.sweeps, &sweep{member: m, number: number, from: a.from})
		n++
	}
	s := m.sweeps[n-1]
	if len(s.answers) < maxSweep {
		s.answers = append(s.answers, a)
	}
	s.to, s.complete = a.at, last
}

// sweeps of all members that came to their end, in the order of time.
func (f *Facts) sweeps() []*sweep {
	return cached(f, "sweeps", func() []*sweep {
		var out []*sweep
		for _, m := range f.all() {
			for _, s := range m.sweeps {
				if s.complete {
					s.process = m.process(s.from, s.to)
					s.wasReady = s.process != nil && m.wasReady().During(fact.Moment{Earliest: s.from, Latest: s.last().from}) == fact.Yes
					s.settled = f.settled(s.from, s.to)
					s.compare()
					out = append(out, s)
				}
			}
		}
		slices.SortFunc(out, func(a, b *sweep) int { return cmp.Compare(a.last().seq, b.last().seq) })
		return out
	})
}

func (s *sweep) last() *answer { return &s.answers[len(s.answers)-1] }

func (s *sweep) moment() fact.Moment {
	return fact.Moment{Earliest: s.from, Latest: s.to, Seq: s.answers[0].seq}
}

// documents are the answers to unconditional requests for the two documents.
func (s *sweep) documents() []*answer {
	return s.answersTo((*question).document)
}

func (s *sweep) answersTo(fits func(*question) bool) []*answer {
	var out []*answer
	for i := range s.answers {
		if fits(s.answers[i].question) {
			out = append(out, &s.answers[i])
		}
	}
	return out
}

// same is the document at a path in JSON if it was the same at the beginning and at the
// end, and nil else. It may have been another one in between where changes were on their
// way: settled is stronger.
func (s *sweep) same(path string) *answer {
	all := s.answersTo(func(q *question) bool { return q.document() && q.path == path && q.accept == askedJSON })
	if len(all) < 2 {
		return nil
	}
	first, last := all[0], all[len(all)-1]
	if first.code != http.StatusOK || last.code != http.StatusOK || first.tag != last.tag || first.digest != last.digest {
		return nil
	}
	return first
}

// compare notes what the answers of the sweep are compared with.
func (s *sweep) compare() {
	s.steadily, s.offers, s.local = map[string]*answer{}, nil, s.localView()
	if s.wasReady && s.settled {
		s.steadily[corePath], s.steadily[groupsPath] = s.same(corePath), s.same(groupsPath)
	}
	for _, a := range s.documents() {
		if a.formed && a.code == http.StatusOK && len(a.options) == 1 && a.form.aggregated() && a.options[0].fits(a.form) {
			s.offers = append(s.offers, a.form.version)
		}
	}
}

// steady is the document at a path if it was the same at the beginning and the end, and the
// member was ready and nothing was changed all the time; nil else.
func (s *sweep) steady(path string) *answer { return s.steadily[path] }

// versions are the answers of the endpoints of single group-versions.
func (s *sweep) versions() map[string]*answer {
	out := map[string]*answer{}
	for i := range s.answers {
		if group, version, ok := versionOfPath(s.answers[i].path); ok {
			out[named(group, version)] = &s.answers[i]
		}
	}
	return out
}

// plain is the last document at a path that is not aggregated; nil if there is none.
func (s *sweep) plain(path string) (found *answer) {
	for i := range s.answers {
		if a := &s.answers[i]; a.path == path && a.listing != nil && a.listing.kind == plainKinds[path] {
			found = a
		}
	}
	return found
}

// plainKinds are the kinds of the documents that are not aggregated, by path.
var plainKinds = map[string]string{corePath: "APIVersions", groupsPath: "APIGroupList"}

// pathOf is the document that tells of a group.
func pathOf(group string) string {
	if group == "" {
		return corePath
	}
	return groupsPath
}

// offered are the versions of the aggregated document that a server showed to have: it
// gave one to a client that asked for nothing else.
func (s *sweep) offered() []string { return s.offers }
