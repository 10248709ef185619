package discovery

import (
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// wish names one thing that the harness can define: a CustomResourceDefinition or an
// APIService, of which each has one version only.
type wish struct {
	remote          bool
	group, resource string
}

// definition is what was to be hosted because of a wish, over the whole history.
type definition struct {
	wish
	changes []*change
}

// change is a request that changed what is to be hosted.
type change struct {
	of *definition
	// index among the changes of the definition.
	index int
	// from and at are when it was sent and answered; known is whether its outcome is. One
	// whose outcome is not known may have been made at any time since it was sent.
	from, at, seq int64
	known         bool
	// versions to be served from then on, before those of the last state that is certain,
	// and ever all that there may have been.
	versions, before, ever []string
	// begun is since when there may have been any versions without a break.
	begun int64
}

func (d *definition) String() string {
	if d.remote {
		return "the APIService of " + d.group
	}
	return "the CustomResourceDefinition of " + d.resource + "." + d.group
}

func (c *change) moment() fact.Moment { return fact.Exactly(c.at, c.seq) }

func (f *Facts) observeDefinition(ev *history.Event) {
	r, defines := ev.Request, ev.Request.Defines
	// A server that loses its etcd on the way answers with an error, and may have done it.
	unknown := r.Code == 0 || r.Code >= 500 && !r.Barrier
	if r.Code >= 400 && !unknown && (r.Verb != "delete" || r.Code != http.StatusNotFound) {
		return // it was refused
	}
	f.disturbed(ev.From, ev.At)
	key := wish{defines.Remote, defines.Group, defines.Resource}
	d := f.defined[key]
	if d == nil {
		d = &definition{wish: key}
		f.defined[key] = d
		f.definitions = append(f.definitions, d)
		f.ofGroup[d.group] = append(f.ofGroup[d.group], d)
	}
	c := &change{of: d, index: len(d.changes), from: ev.From, at: ev.At, seq: ev.Seq, known: !unknown, versions: slices.Clone(defines.Versions), begun: ev.From}
	if c.index > 0 {
		last := d.changes[c.index-1]
		if last.known && c.known && slices.Equal(last.versions, c.versions) {
			return // only the priority of an APIService is another one
		}
		c.before, c.ever = last.before, slices.Clone(last.ever)
		if last.known {
			c.before = last.versions
		}
		if len(c.before) > 0 || !last.known {
			c.begun = last.begun
		}
	}
	for _, version := range c.versions {
		if !slices.Contains(c.ever, version) {
			c.ever = append(c.ever, version)
		}
	}
	d.changes = append(d.changes, c)
}

// latest is the last change that was answered by a time; nil if none was.
func (d *definition) latest(at int64) *change {
	for _, c := range slices.Backward(d.changes) {
		if c.at <= at {
			return c
		}
	}
	return nil
}

// next is the change after this one; nil if there is none.
func (c *change) next() *change {
	if c.index+1 < len(c.of.changes) {
		return c.of.changes[c.index+1]
	}
	return nil
}

// over is when the next change was sent, and Forever where there is none.
func (c *change) over() int64 {
	if next := c.next(); next != nil {
		return next.from
	}
	return fact.Forever
}

// uncertain is whether it is not known at a time what is to be hosted.
func (d *definition) uncertain(at int64) bool {
	c := d.latest(at)
	return c != nil && !c.known
}

// possible is whether the definition may have wanted a version at some time between two.
func (d *definition) possible(version string, from, to int64) bool {
	return slices.ContainsFunc(d.changes, func(c *change) bool {
		if c.from > to || !slices.Contains(c.versions, version) {
			return false
		}
		over := int64(fact.Forever)
		for next := c.next(); next != nil; next = next.next() {
			if next.known {
				over = next.at
				break
			}
		}
		return from <= over
	})
}

// definitionsOf are those of a group.
func (f *Facts) definitionsOf(group string) []*definition { return f.ofGroup[group] }

// isDefined is whether the harness has anything to do with the group, at any time.
func (f *Facts) isDefined(group string) bool { return len(f.ofGroup[group]) > 0 }

// remote is whether an APIService of the harness hands the group-version on at a time, or
// did before the last change.
func (f *Facts) remote(group, version string, at int64) bool {
	d := f.defined[wish{remote: true, group: group}]
	if d == nil {
		return false
	}
	c := d.latest(at)
	return c != nil && (slices.Contains(c.versions, version) || slices.Contains(c.before, version)) || d.possible(version, at, at)
}

// shared is whether both a custom resource and an aggregated server were defined in the
// group.
func (f *Facts) shared(group string) bool {
	return f.defined[wish{remote: true, group: group}] != nil
}

// changing is whether a change of the group was under way at some time between two, or is
// one whose outcome is not known by then.
func (f *Facts) changing(group string, from, to int64) bool {
	return slices.ContainsFunc(f.definitionsOf(group), func(d *definition) bool {
		return d.uncertain(to) || slices.ContainsFunc(d.changes, func(c *change) bool { return c.from <= to && from <= c.at })
	})
}

// lacks says how a document that was given at a time differs from what a change of a
// CustomResourceDefinition wants; empty if it does not.
func (f *Facts) lacks(l *listing, c *change, at int64) string {
	d := c.of
	for _, version := range c.versions {
		found := l.version(d.group, version)
		switch {
		case f.remote(d.group, version, at):
		case !f.library.hosts(found, d.resource):
			return "does not have " + d.resource + " in " + named(d.group, version)
		case found.Freshness != history.FreshnessCurrent:
			return "calls " + named(d.group, version) + " " + quoted(found.Freshness)
		}
	}
	for _, version := range c.ever {
		if !slices.Contains(c.versions, version) && !f.remote(d.group, version, at) && f.library.hosts(l.version(d.group, version), d.resource) {
			return "still has " + d.resource + " in " + named(d.group, version)
		}
	}
	return ""
}
