package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad26: what the harness did not make (an APIService whose Service is missing, a server
// that comes and goes) takes nothing else out of discovery. While the server of a foreign
// APIService is in trouble, each ready member goes on to list the built-in group-versions
// of its release and all that the harness has defined, as current.
// A member that gives no document for long takes all of it out.
var ad26 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-26", Takes: []string{history.LackBackends}, Sources: readiness, Needs: each("looks", "aggregated")},
	Parts: []law.Law[*Facts]{
		givesLaw("AD-26", func(f *Facts, at int64) bool { return f.trouble(at, at) != nil }),
		law.Written[*Facts]{Row: law.Row{ID: "AD-26"}, Judge: judgeForeign},
	},
}

func judgeForeign(f *Facts, l *law.Ledger, _ law.Bounds) {
	quiet := map[*answer]*sweep{}
	for _, s := range f.quiet() {
		quiet[s.steady(groupsPath)] = s
	}
	for _, c := range f.comparisons() {
		if c.trouble == nil || c.told() == nil && len(c.harms) == 0 {
			continue
		}
		harms := 0
		for _, h := range append(c.harms, c.plainHarms(quiet[c.answer])...) {
			if h.before > 0 {
				harms++
				l.Add(c.breach(h, c.trouble.String()+" is in trouble", c.trouble.seq))
			}
		}
		switch e := c.entry(c.trouble.String()); {
		case harms > 0:
		case c.aggregated:
			l.Add(e.Met("looks", "aggregated"))
		default:
			l.Add(e.Met("looks"))
		}
	}
}

// plainHarms are what the list of groups that is not aggregated lacks in a quiet look.
func (c *comparison) plainHarms(s *sweep) (out []harm) {
	if s == nil || s.plain[groupsPath] == nil || c.base == nil || !c.alike {
		return nil
	}
	for _, of := range c.base.listing.names {
		if !c.left(of) && s.plain[groupsPath].listing.version(of) == nil {
			out = append(out, harm{"does not have " + of.String() + " in its list of groups that is not aggregated", s.plain[groupsPath].seq})
		}
	}
	return out
}
