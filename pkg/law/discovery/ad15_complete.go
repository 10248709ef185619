package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ad15: at the first moment of readiness all built-in and custom group-versions are present
// and current (KEP-3352: the health check waits for local servers), and those of aggregated servers
// are listed. The document of that moment is compared with what the harness had defined by then,
// and with what the same process said later, when all was quiet.
var ad15 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-15", Sources: readiness, Needs: append(each("prompt", "whole"), anyOf("custom")...)},
	Parts: []law.Law[*Facts]{
		dutyLaw(law.Row{ID: "AD-15"}, "givesWithin", (*member).serving, func(f *Facts) []duty { return fact.Each(f.firstMoments(), firstMoment.duty) }),
		law.Written[*Facts]{Row: law.Row{ID: "AD-15"}, Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
			for _, m := range f.firstMoments() {
				l.Add(m.refused())
				if m.document != nil {
					m.hasDefined(l)
					l.Add(m.hasAll())
				}
			}
		}},
	},
}

// firstMoment is that of a process that has become ready.
type firstMoment struct {
	member  *member
	process *fact.Process
	ready   fact.Moment
	// document is the first one that it gave, and denied the first answer before that is
	// none; nil where there is none. A member that was busy for a moment owes as much after it.
	document, denied *answer
}

// duty is to give any document.
func (m firstMoment) duty() duty {
	d := duty{member: m.member, about: m.member.name, since: "it was ready", began: m.ready, until: endless, why: "the process ended", wrong: func(*answer) string { return "" }}
	if m.process.Exited != nil {
		d.until = *m.process.Exited
	}
	d.tags = func(fact.Moment) []string {
		if m.document != nil && m.denied == nil && m.document.from <= m.ready.Latest+int64(requirement.MustBound("AD-15", "firstMoment")) {
			return []string{"prompt"}
		}
		return nil
	}
	return d
}

func (f *Facts) firstMoments() (out []firstMoment) {
	for _, m := range f.all() {
		for _, p := range f.Processes(m.name, history.ComponentAPIServer) {
			ready := f.FirstReady(p)
			if ready == nil || withoutAggregation(p) {
				continue
			}
			first := firstMoment{member: m, process: p, ready: *ready}
			for _, k := range m.from(ready.Latest) {
				if k.by() != p || k.from < ready.Latest {
					continue
				}
				if k.told() != nil {
					first.document = k
					break
				}
				if first.denied == nil && k.Code != 0 {
					first.denied = k
				}
			}
			out = append(out, first)
		}
	}
	return out
}

// refused looks for a refusal in the place of the first document, or a failure that no fault
// explains. Of one that took too long givesWithin tells.
func (m firstMoment) refused() law.Entry {
	k := m.denied
	switch {
	case k == nil, k.busy(), k.Code < http.StatusBadRequest, k.Code == http.StatusGatewayTimeout:
		return law.Entry{}
	case k.Code >= http.StatusInternalServerError && m.member.alone().During(k.moment()) != fact.Yes:
		return law.Entry{}
	}
	return k.entry(m.member.name).Broken("%s was ready and answered %d in the place of the document", m.member.name, k.Code).Shown(m.process.Started.Seq, k.seq)
}

// hasDefined looks in the first document for what the harness had defined before the process
// started.
func (m firstMoment) hasDefined(l *law.Ledger) {
	k := m.document
	for _, d := range m.member.facts.definitions {
		c := d.certain(k.at)
		// Servers have to agree first on whether a resource can be hosted.
		if c == nil || !m.member.facts.shown(c.at, m.process.Started.Earliest) || m.member.facts.changing(d.group, k.from, k.at) {
			continue
		}
		switch wrong := c.omitted(k); {
		case wrong != "":
			l.Add(k.entry(d.String()).Broken("%s was ready and %s, which was defined before it started", m.member.name, wrong).Shown(c.seq, m.process.Started.Seq, k.seq))
		case len(c.versions) == 0:
		case d.remote:
			l.Add(k.entry(d.String()).Met())
		default:
			l.Add(k.entry(d.String()).Met("custom"))
		}
	}
}

// omitted says what of a definition the first document leaves out. That of an aggregated server is
// to be listed, and may be stale: "for api servers that have not been aggregated, their
// group-versions will be published" (KEP-3352, Aggregation; kubernetes/kubernetes#115303). A client
// that does not see a group takes it for gone, and leaves its objects behind.
func (c *change) omitted(k *answer) string {
	if !c.of.remote {
		return c.lacks(k, k.at)
	}
	for _, version := range c.versions {
		if of := (groupVersion{c.of.group, version}); k.listing.version(of) == nil {
			return "does not list " + of.String()
		}
	}
	return ""
}

// hasAll looks in the first document for what quiet looks show that the program hosts: at the
// same process, which may not lose for good what others of its program have, and at all others.
func (m firstMoment) hasAll() law.Entry {
	k := m.document
	e := k.entry(m.member.name + " later").Excused("no quiet look showed what the process hosts later")
	for _, s := range m.member.facts.quiet() {
		document := s.steady(groupsPath)
		if program(s.by) != program(m.process) || document.told() == nil {
			continue
		}
		for _, of := range document.listing.names {
			if wrong := k.listing.otherwise(document.listing, of, true); wrong != "" && s.hostsItself(document, of) && len(s.member.facts.definitionsOf(of.group)) == 0 {
				return e.Broken("the first document of %s when it was ready %s, which %s hosts", m.member.name, wrong, m.hostedBy(s)).Shown(m.process.Started.Seq, k.seq, document.seq)
			}
		}
		if s.by == m.process {
			e = e.Met("whole")
		}
	}
	return e
}

func (m firstMoment) hostedBy(s *sweep) string {
	if s.by == m.process {
		return "it"
	}
	return s.member.name + " with the same release"
}
