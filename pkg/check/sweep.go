package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sweep is a thorough look at one member: everything in every form.
type sweep struct {
	member string
	number int64
	// in is the process that answered everything; nil if another may have, or if it
	// was not ready all the time.
	in *instance
	// by is the process that answered everything, also if it was late to say that it
	// was ready; nil if another may have.
	by *instance
	// from and to are when it began and ended.
	from, to int64
	answers  []*history.Event
	// settled is whether nothing was done during the sweep and so long before
	// that everything had to show.
	settled bool

	// first and last are the answers in the form that each begins and ends with,
	// by path.
	first, last map[string]*history.Event
}

// maxSweep is how many answers one sweep may have.
const maxSweep = 2000

// sweep collects the answers of a sweep.
func (d *documents) sweep(w *World, ev *history.Event) {
	document := ev.Document
	if document.Sweep == 0 {
		return
	}
	s := d.under[ev.Member]
	if s == nil || s.number != document.Sweep {
		s = &sweep{
			member: ev.Member, number: document.Sweep, in: w.instanceAt(ev.Member, ev), by: w.instanceAt(ev.Member, ev), from: ev.From, settled: d.settledBy(ev.From),
			first: map[string]*history.Event{}, last: map[string]*history.Event{},
		}
		d.under[ev.Member] = s
	}
	if len(s.answers) >= maxSweep {
		return
	}
	s.answers = append(s.answers, ev)
	if _, ready := d.knows(w, ev); !ready || s.in != w.instanceAt(ev.Member, ev) {
		s.in = nil
	}
	if s.by != w.instanceAt(ev.Member, ev) {
		s.by = nil
	}
	if document.Accept == askedJSON && document.IfNoneMatch == "" {
		if s.first[document.Path] == nil {
			s.first[document.Path] = ev
		}
		s.last[document.Path] = ev
	}
	if document.Last {
		delete(d.under, ev.Member)
		s.to = ev.At
		s.settled = s.settled && d.settledBy(s.from)
		d.swept = s
	}
}

// steady is whether the document at the path was the same at the beginning and
// at the end, and which it was. It may have been another one in between where
// changes were on their way: settled is stronger.
func (s *sweep) steady(path string) (*history.Event, bool) {
	first, ok := s.same(path)
	return first, ok && s.in != nil
}

// same is steady whether or not the process was ready all the time.
func (s *sweep) same(path string) (*history.Event, bool) {
	first, last := s.first[path], s.last[path]
	if first == nil || last == nil || first == last {
		return nil, false
	}
	a, b := first.Document, last.Document
	return first, a.Code == 200 && b.Code == 200 && a.ETag == b.ETag && a.Digest == b.Digest
}

// each gives the answers of a sweep to the path in one form of the request.
func (s *sweep) each(fits func(*history.Document) bool, do func(*history.Event)) {
	for _, ev := range s.answers {
		if ev.Document.Code != 0 && fits(ev.Document) {
			do(ev)
		}
	}
}

// negotiated are the unconditional answers at the paths of the two documents.
func negotiated(d *history.Document) bool {
	return (d.Path == corePath || d.Path == groupsPath) && d.IfNoneMatch == ""
}
