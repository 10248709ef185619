package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad19: removing an APIService removes its group-version; a custom resource of the same
// group survives, and the other way round.
var ad19 = showLaw(law.Row{ID: "AD-19", Takes: []string{history.LackBackends}, Sources: readiness, Needs: each("remote", "custom")},
	func(d *definition) bool { return d.of.shared(d.group) }, apart, survived)

// apart says which group-version a document lacks that a change wants, or still has that
// neither it nor any other definition of the group can want; empty if neither. A custom resource
// survives in more than the name of its group-version.
func apart(k *answer, c *change) string {
	for _, version := range c.ever {
		of := groupVersion{c.of.group, version}
		listed, wanted := k.listing.version(of) != nil, slices.Contains(c.versions, version)
		if wanted && !listed && c.of.of.mixed(c.of.group) {
			return "does not list " + of.String()
		}
		if listed && !wanted && !k.member.wanted(of, k.from, k.at, func(d *definition) bool { return d != c.of }) {
			return "still lists " + of.String()
		}
	}
	if !c.of.remote {
		return c.lacks(k, k.at)
	}
	return ""
}

// mixed is whether the harness defined both kinds in a group. One that an APIService has for
// itself has nothing to survive: whether that is listed, AD-14 and AD-25 judge.
func (f *Facts) mixed(group string) bool {
	return slices.ContainsFunc(f.definitionsOf(group), func(d *definition) bool { return !d.remote })
}

// survived are the tags of a removal at which all that others define in the group stays.
func survived(m *member, c *change, done fact.Moment) []string {
	if len(c.versions) > 0 || len(c.before) == 0 {
		return nil
	}
	for _, k := range m.between(done.Earliest, c.over()) {
		for _, other := range c.of.of.definitionsOf(c.of.group) {
			now := other.certain(k.from)
			if other.remote != c.of.remote && now != nil && len(now.versions) > 0 && k.from > now.at+int64(showsWithin()) && k.told() != nil && apart(k, c) == "" && apart(k, now) == "" {
				return []string{map[bool]string{true: "remote", false: "custom"}[c.of.remote]}
			}
		}
	}
	return nil
}
