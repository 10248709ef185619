package discovery

import "github.com/evenkeel/evenkeel/pkg/law"

// ad29: two documents take the place of a storm of requests, one for each group-version
// (KEP-3352, Summary and Goals). The requests of client-go are counted on the wire.
var ad29 = clientLaw(law.Row{ID: "AD-29", Takes: law.AnyRun, Sources: definitions, Needs: each("aggregated", "storm")}, func(c *client, b law.Bounds) law.Entry {
	e, most := c.entry("the requests of a client"), int(b.Number("requests"))
	switch {
	case c.found.Legacy && c.found.Requests > most:
		return e.Met("storm")
	case c.found.Legacy || withoutAggregation(c.by):
		return law.Entry{}
	case c.found.Requests > most:
		return e.Broken("a client of %s that uses aggregated discovery sent %d requests to learn of %d resources", c.answer.member.name, c.found.Requests, c.found.Resources).Shown(c.answer.seq)
	}
	return e.Met("aggregated")
})
