package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad19: removing an APIService removes its group-version; a custom resource of the same
// group survives, and the other way round.
var ad19 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-19", Sources: readiness, Needs: each("remote", "custom")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, d := range f.definitions {
			others := slices.DeleteFunc(slices.Clone(f.definitionsOf(d.group)), func(o *definition) bool { return o == d })
			if !slices.ContainsFunc(others, func(o *definition) bool { return o.remote != d.remote }) {
				continue
			}
			showing{
				of: d, bound: b.Of("showsWithin"),
				wrong: func(k *look, c *change) string { return apart(k, c, others) },
				tags:  func(k *look, c *change) []string { return survivors(k, c, others) },
				breach: func(m *member, c *change, wrong string, took time.Duration) string {
					return fmt.Sprintf("%s %s, %s after %s was changed", m.name, wrong, took, c.of)
				},
			}.judge(f, l)
		}
	},
}

// apart says which group-version a document lacks that a change wants, or still has that
// neither it nor any other definition of the group can want; empty if neither.
func apart(k *look, c *change, others []*definition) string {
	group := c.of.group
	for _, version := range c.versions {
		if k.listing.version(group, version) == nil {
			return "does not list " + named(group, version)
		}
	}
	for _, version := range c.ever {
		due := slices.Contains(c.versions, version) || slices.ContainsFunc(others, func(o *definition) bool {
			return o.possible(version, k.from-int64(showsWithin()), k.last)
		})
		if !due && k.listing.version(group, version) != nil {
			return "still lists " + named(group, version)
		}
	}
	return ""
}

// survivors are the tags of a removal at which all that others define in the group stays.
func survivors(k *look, c *change, others []*definition) []string {
	if len(c.versions) > 0 || len(c.before) == 0 {
		return nil
	}
	for _, o := range others {
		now := o.latest(k.until)
		if o.remote == c.of.remote || now == nil || !now.known || len(now.versions) == 0 || k.until <= now.at+int64(showsWithin()) ||
			slices.ContainsFunc(now.versions, func(v string) bool { return k.listing.version(o.group, v) == nil }) {
			continue
		}
		if c.of.remote {
			return []string{"remote"}
		}
		return []string{"custom"}
	}
	return nil
}
