package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad13: a custom resource that is created, changed or deleted shows on every server within
// a bound, and leaves no ghost (KEP-3352, risks: "caching"). Groups that aggregated servers
// have a part in are AD-19's.
var ad13 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-13", Sources: readiness, Needs: each("created", "changed", "deleted")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, d := range f.definitions {
			if d.remote || f.shared(d.group) {
				continue
			}
			// A document is mostly that of the look before.
			var last struct {
				*listing
				*change
				wrong string
			}
			showing{
				of: d, bound: b.Of("showsWithin"), breach: anew,
				wrong: func(k *look, c *change) string {
					if k.listing != last.listing || c != last.change {
						last.listing, last.change, last.wrong = k.listing, c, f.lacks(k.listing, c, k.at)
					}
					return last.wrong
				},
				tags: func(_ *look, c *change) []string { return []string{kindOfChange(c)} },
			}.judge(f, l)
		}
	},
}
