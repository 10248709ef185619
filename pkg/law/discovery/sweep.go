package discovery

import (
	"maps"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sweep is a thorough look at one member: everything in every form.
type sweep struct {
	member *member
	// from and to are when it began and ended.
	from, to int64
	answers  []*answer
	complete bool
	// by answered everything, and was ready all the time; nil where that is not certain.
	by *fact.Process
	// settled is whether nothing was changed in the meantime, nor so shortly before that it
	// need not show yet.
	settled bool
	// offered are the versions of the aggregated document that the server showed to have: it
	// gave one to a client that asked for nothing else.
	offered []string
	// plain are the last documents that are not aggregated, by path, and endpoints the last
	// answers of those of single group-versions.
	plain     map[string]*answer
	endpoints map[groupVersion]*answer
	// local is the answer in which the server tells of itself alone; nil if it gave none.
	local *answer
}

// maxSweep is how many answers one sweep may have.
const maxSweep = 2000

func (m *member) sweep(a *answer) {
	n := len(m.sweeps)
	if n == 0 || m.sweeps[n-1].answers[0].Sweep != a.Sweep || m.sweeps[n-1].complete {
		m.sweeps = append(m.sweeps, &sweep{member: m, from: a.from})
		n++
	}
	s := m.sweeps[n-1]
	if len(s.answers) < maxSweep {
		s.answers = append(s.answers, a)
	}
	s.to, s.complete = a.at, a.Last
}

// sweeps of all members that came to their end, in the order of time.
func (f *Facts) sweeps() []*sweep {
	type key struct{}
	return fact.Cached(f.History, key{}, func() []*sweep {
		var out []*sweep
		for _, m := range f.all() {
			out = append(out, fact.Where(m.sweeps, func(s *sweep) bool { return s.complete })...)
		}
		for _, s := range out {
			s.derive()
		}
		slices.SortFunc(out, func(a, b *sweep) int { return int(a.last().seq - b.last().seq) })
		return out
	})
}

// ready are the sweeps of which one process answered everything, ready all the time.
func (f *Facts) ready() []*sweep {
	return fact.Where(f.sweeps(), func(s *sweep) bool { return s.by != nil })
}

// quiet are those in which nothing was changed either.
func (f *Facts) quiet() []*sweep {
	return fact.Where(f.ready(), func(s *sweep) bool { return s.settled })
}

func (s *sweep) last() *answer { return s.answers[len(s.answers)-1] }

func (s *sweep) moment() fact.Moment {
	return fact.Moment{Earliest: s.from, Latest: s.to, Seq: s.answers[0].seq}
}

func (s *sweep) derive() {
	s.by, s.settled, s.offered, s.local = nil, s.member.facts.settled(s.from, s.to), nil, nil
	s.plain, s.endpoints = map[string]*answer{}, map[groupVersion]*answer{}
	if s.member.wasReady().During(fact.Moment{Earliest: s.from, Latest: s.last().from}) == fact.Yes {
		s.by = s.member.process(s.from, s.to)
	}
	s.settled = s.settled && s.learned()
	for _, a := range s.answers {
		if of, resource, ok := located(a.Path); ok && resource == "" {
			s.endpoints[of] = a
		}
		if a.listing != nil && a.listing.Kind == plainKinds[a.Path] {
			s.plain[a.Path] = a
		}
		if a.unconditional() && a.formed && a.Code == http.StatusOK && len(a.options) == 1 && a.form.aggregated() && a.options[0].fits(a.form) {
			s.offered = append(s.offered, a.form.version)
		}
		if a.Path == groupsPath && a.Accept == askedLocal {
			s.local = a
		}
	}
	if s.local != nil && s.local.told() == nil {
		s.local = nil
	}
}

// learned is whether the member has had the time to show what was changed last: a process that was
// there has not while it was frozen.
func (s *sweep) learned() bool {
	changed := s.member.facts.changedBy(s.from)
	return changed == 0 || s.by == nil || s.by.Started.Earliest > changed || s.member.able().Lasts(changed, s.from, fact.Yes) >= int64(showsWithin())
}

// same is the document at a path in JSON if it was the same at the beginning and at the
// end, and nil else. It may have been another one in between where changes were on their
// way: steady is stronger.
func (s *sweep) same(path string) *answer {
	all := fact.Where(s.answers, func(a *answer) bool { return a.unconditional() && a.Path == path && a.Accept == askedJSON })
	if len(all) < 2 {
		return nil
	}
	first, last := all[0], all[len(all)-1]
	if first.Code != http.StatusOK || last.Code != http.StatusOK || first.ETag != last.ETag || first.Digest != last.Digest {
		return nil
	}
	return first
}

// steady is the document at a path if it was the same at the beginning and the end, and the
// member was ready and nothing was changed all the time; nil else.
func (s *sweep) steady(path string) *answer {
	if s.by == nil || !s.settled {
		return nil
	}
	return s.same(path)
}

// hostsItself is whether the server itself hosts what its document calls current, and neither
// an aggregated server, one that the harness did not make among them, nor a peer.
func (s *sweep) hostsItself(document *answer, of groupVersion) bool {
	return document.listing.current(of) && !s.member.remote(of, s.to) && !s.member.isForeign(of, s.from) && s.byPeers(document, of) == fact.No
}

// steadySeq is the number of the event of steady; 0 where that gives none.
func (s *sweep) steadySeq(path string) int64 {
	if a := s.steady(path); a != nil {
		return a.seq
	}
	return 0
}

// row is what the documents of a quiet look say of one group-version.
type row struct {
	*sweep
	groupVersion
	// document is the aggregated one, and listed what it says; nil if it says nothing.
	document *answer
	listed   *history.ListedVersion
	// plain is what the document says that is not aggregated, endpoint the answer of its own,
	// and told what that says.
	plain    *history.ListedVersion
	endpoint *answer
	told     *history.ListedVersion
	// remote is whether an aggregated server of the harness hosts it, and byPeers whether
	// peers host it, or a part of it.
	remote  bool
	byPeers fact.Truth
}

// rows are the group-versions that any of the documents at a path has, but for foreign ones;
// none where the document was not steady.
func (s *sweep) rows(path string) []*row {
	document, plain := s.steady(path), s.plain[path]
	if document.told() == nil {
		return nil
	}
	names := slices.Concat(document.listing.names, plain.told().all(), slices.Collect(maps.Keys(s.endpoints)))
	slices.SortFunc(names, byName)
	var out []*row
	for _, of := range slices.Compact(names) {
		if of.path() == path && !s.member.isForeign(of, s.from) {
			out = append(out, &row{
				sweep: s, groupVersion: of, document: document, listed: document.listing.version(of), plain: plain.told().version(of),
				endpoint: s.endpoints[of], told: s.endpoints[of].told().version(of), remote: s.member.remote(of, s.to), byPeers: s.byPeers(document, of),
			})
		}
	}
	return out
}

// rows are those of all quiet looks.
func (f *Facts) rows() (out []*row) {
	for _, s := range f.quiet() {
		out = append(out, append(s.rows(corePath), s.rows(groupsPath)...)...)
	}
	return out
}

func (r *row) entry() law.Entry { return r.document.entry(r.groupVersion.String()) }
