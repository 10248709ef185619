package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv04: the version that a server encodes to is among those it can decode
// (KEP-2339, on ServerStorageVersion: "must be included"). Holds for each
// revision, and a status that says otherwise must be refused.
type sv04 struct {
	findings
	entries, refusals int64
	probes            probes
}

func (c *sv04) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok && now != nil {
		for _, e := range now.Entries {
			c.entries++
			if !slices.Contains(e.Decodable, e.Encoding) {
				c.violate(at(ev.Seq), "in %s, %s encodes %s and decodes only %v", name, e.ServerID, e.Encoding, e.Decodable)
			}
		}
	}
	wrong, refused := c.probes.outcome(w, ev, history.InvalidUndecodable)
	if wrong {
		c.violate(at(ev.Seq), "%s took a status of %s whose encoding version cannot be decoded", ev.Member, ev.Request.Name)
	}
	if refused {
		c.refusals++
	}
}

func (c *sv04) Finish(*World) {}

func (c *sv04) doubts() []string { return c.probes.doubts() }

func (c *sv04) Observations() []Observation {
	return []Observation{
		{What: "entries in StorageVersions", Seen: c.entries, Need: needEntries},
		{What: "statuses with an undecodable version refused", Seen: c.refusals, Need: needRefusedProbes},
		c.probes.least("statuses with an undecodable version"),
	}
}
