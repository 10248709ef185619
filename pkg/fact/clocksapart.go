package fact

import (
	"slices"
	"time"
)

// ClocksApart is whether the clock of any server is certainly apart from the recorder's by more
// than a tolerance, as those of another machine may be: the server dated a renewal of its identity
// Lease ahead, or all of them back. Requests take their time, so that one of them shows no clock
// that is behind.
func (h *History) ClocksApart(tolerance time.Duration) bool {
	skew := int64(tolerance)
	return slices.ContainsFunc(h.Participants(), func(p *Participation) bool {
		dated := Where(p.Renewals, func(r Renewal) bool { return !r.Renewed.IsZero() && !h.When(r.Stamp).Given() })
		ahead := func(r Renewal) bool { return h.Time(r.Renewed)-skew > h.When(r.Stamp).Latest }
		inTime := func(r Renewal) bool { return h.Time(r.Renewed)+skew >= h.When(r.Stamp).Earliest }
		return slices.ContainsFunc(dated, ahead) || len(dated) > 0 && !slices.ContainsFunc(dated, inTime)
	})
}
