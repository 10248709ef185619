package discovery

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad28: "the RESTMapper functionality works properly both when the feature is enabled and
// disabled" (KEP-3352, Feature Enablement and Rollback), as clients of client-go have it.
var ad28 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-28", Takes: law.AnyRun, Sources: definitions, Needs: append(each("aggregated", "legacy"), anyOf("alike")...)},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, *client]{Row: law.Row{ID: "AD-28"}, Over: (*Facts).clients, End: func(c *client, _ law.Bounds) law.Entry { return c.fails() }},
		clientLaw(law.Row{ID: "AD-28"}, func(c *client, _ law.Bounds) law.Entry {
			switch {
			case c.found.Legacy:
				return c.maps("legacy")
			case withoutAggregation(c.by):
				return law.Entry{} // AD-27
			}
			return c.maps("aggregated")
		}),
		law.Each[*Facts, *sweep]{Row: law.Row{ID: "AD-28"}, Over: (*Facts).quiet, End: func(s *sweep, _ law.Bounds) law.Entry { return s.mapAlike() }},
	},
}

// client is what a client of client-go found out in a quiet look.
type client struct {
	*sweep
	answer *answer
	found  *history.DiscoveryClient
}

// ended is whether the client came to its end.
func (c *client) ended() bool { return c.found != nil && c.answer.Error == "" }

// fails is an obligation of a client that came to no end though it got every answer: nothing
// but what the server said can be the reason.
func (c *client) fails() law.Entry {
	if c.found == nil || c.ended() || c.found.Refused > 0 {
		return law.Entry{}
	}
	return c.entry("a client").Broken("a client of %s got an answer to each of %d requests, and could do nothing with them: %s", c.answer.member.name, c.found.Requests, c.answer.Error).Shown(c.answer.seq)
}

// clients are those of a look, the one that uses aggregated discovery first.
func (s *sweep) clients() []*client {
	return fact.Each(fact.Where(s.answers, func(a *answer) bool { return a.Path == history.ClientPath }), func(a *answer) *client { return &client{s, a, a.Client} })
}

// clients are those of all quiet looks.
func (f *Facts) clients() (out []*client) {
	for _, s := range f.quiet() {
		out = append(out, s.clients()...)
	}
	return out
}

// clientLaw is a law about what clients of quiet looks found out.
func clientLaw(row law.Row, end func(*client, law.Bounds) law.Entry) law.Law[*Facts] {
	return law.Each[*Facts, *client]{Row: row, Over: (*Facts).clients, End: func(c *client, b law.Bounds) law.Entry {
		switch {
		case !c.ended():
			return c.entry("a client").Excused("the client came to no end")
		case c.found.Refused > 0:
			return c.entry("a client").Excused("the server could not answer")
		}
		return end(c, b)
	}}
}

// entry is an obligation about the client.
func (c *client) entry(about string) law.Entry { return c.answer.entry(about) }

// maps judges whether the RESTMapper of the client maps every kind.
func (c *client) maps(tag string) law.Entry {
	e := c.entry("the RESTMapper of a client")
	switch {
	case len(c.found.Unmapped) > 0:
		return e.Broken("the RESTMapper of a client of %s does not map the kinds of %s", c.answer.member.name, strings.Join(c.found.Unmapped, ", ")).Shown(c.answer.seq)
	case c.found.Resources == 0:
		return e.Broken("a client of %s came to know no resource", c.answer.member.name).Shown(c.answer.seq)
	case len(c.lacks()) > 0:
		return e.Broken("a client of %s, which hosts %s, came to know nothing of it", c.answer.member.name, strings.Join(c.lacks(), ", ")).Shown(c.answer.seq, c.steadySeq(groupsPath))
	}
	return e.Met(tag)
}

// lacks are the group-versions that the client could not learn of, and that the server hosts
// itself by a document that did not change meanwhile.
func (c *client) lacks() []string {
	return fact.Where(c.found.Missing, func(name string) bool {
		of := groupVersion{version: name}
		if group, version, grouped := strings.Cut(name, "/"); grouped {
			of = groupVersion{group, version}
		}
		document := c.steady(of.path())
		return document.told() != nil && c.hostsItself(document, of)
	})
}

// mapAlike compares what the two clients of a look know. The union of peers is in the
// aggregated document alone (KEP-4020), and so are the last known resources of an
// aggregated server that is down.
func (s *sweep) mapAlike() law.Entry {
	clients := s.clients()
	if len(clients) != 2 || !clients[0].ended() || !clients[1].ended() {
		return law.Entry{}
	}
	one, other := clients[0].found, clients[1].found
	e := law.Of("the RESTMappers of two clients", s.moment()).By(s.member.name)
	switch document := s.same(groupsPath); {
	case one.Mapping == other.Mapping:
		return e.Met("alike")
	case one.Refused > 0 || other.Refused > 0 || len(one.Missing) > 0 || len(other.Missing) > 0:
		return e.Excused("a group-version could not be asked for")
	case document == nil && !withoutAggregation(s.by):
		return e.Excused("the document changed in the meantime")
	case document != nil && s.local != nil && s.local.Content != document.Content:
		return e.Excused("only the aggregated document has what peers host")
	}
	return e.Broken("a client of aggregated discovery of %s knows %d resources, and one without it others, %d", s.member.name, one.Resources, other.Resources).
		Shown(clients[0].answer.seq, clients[1].answer.seq)
}
