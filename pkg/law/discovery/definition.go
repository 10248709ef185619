package discovery

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// definition is what was to be hosted because of a CustomResourceDefinition or an APIService
// of the harness, over the whole history.
type definition struct {
	of              *Facts
	remote          bool
	group, resource string
	changes         []*change
	// deleting is the revision at which etcd last had its CustomResourceDefinition with a
	// deletionTimestamp, and gone that at which it was last removed; 0 for neither.
	deleting, gone int64
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
	// shortNames that a custom resource is to have from then on, in order.
	shortNames []string
	// begun is since when there may have been any versions without a break.
	begun int64
	// revision with which it was answered, and removal what etcd told of the removal, of a
	// deletion that waited for finalizers. It is in force when the object is gone, which at is
	// put off to; until then the object is there, and members may list it.
	revision int64
	removal  fact.Stamp
}

func (d *definition) String() string {
	if d.remote {
		return "the APIService of " + d.group
	}
	return "the CustomResourceDefinition of " + d.resource + "." + d.group
}

func (c *change) moment() fact.Moment {
	if c.removal.Seq > 0 {
		return c.of.of.When(c.removal)
	}
	return fact.Exactly(c.at, c.seq)
}

// deletes is whether it is the deletion of an object in etcd, as far as is known.
func (c *change) deletes() bool { return len(c.versions) == 0 && c.revision > 0 }

// wantsAs is whether it wants the same as another change.
func (c *change) wantsAs(other *change) bool {
	return slices.Equal(c.versions, other.versions) && slices.Equal(c.shortNames, other.shortNames)
}

// waits is whether it is a deletion of an object that etcd still has, because of finalizers.
func (c *change) waits() bool { return c.at == fact.Forever }

// observeDeletion takes in what becomes of a CustomResourceDefinition that was deleted.
func (f *Facts) observeDeletion(ev *history.Event) {
	name, ok := strings.CutPrefix(ev.Stored.Key, customResourceDefinitions)
	if !ok || !ev.Stored.Deleting && ev.Stored.Type != history.StoredDelete {
		return
	}
	resource, group, _ := strings.Cut(name, ".")
	d := f.find(false, group, resource)
	if d == nil {
		return // it is none of the harness
	}
	if ev.Stored.Type == history.StoredPut {
		d.deleting = ev.Stored.Revision
	} else {
		d.gone = ev.Stored.Revision
	}
	// One that was followed by a definition had removed the object by then: etcd tells of the
	// object that was defined since.
	d.changes[len(d.changes)-1].follow(ev)
}

// customResourceDefinitions is where they are stored, by <plural>.<group>, and apiServices where
// APIServices are.
const (
	customResourceDefinitions = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
	apiServices               = "/registry/apiregistration.k8s.io/apiservices/"
)

// follow puts a deletion off until etcd has removed the object. What etcd told before the
// answer came is what the definition has noted.
func (c *change) follow(ev *history.Event) {
	switch {
	case !c.deletes() || ev.Stored.Revision < c.revision || c.removal.Seq > 0:
	case ev.Stored.Type == history.StoredPut:
		c.at = fact.Forever
	case c.waits():
		c.at, c.removal = ev.At, fact.StampOf(ev)
	}
}

// find is the definition of a resource or an APIService; nil if there is none.
func (f *Facts) find(remote bool, group, resource string) *definition {
	i := slices.IndexFunc(f.definitions, func(d *definition) bool {
		return d.remote == remote && d.group == group && d.resource == resource
	})
	if i < 0 {
		return nil
	}
	return f.definitions[i]
}

func (f *Facts) observeDefinition(ev *history.Event) {
	r, told := ev.Request, ev.Request.Defines
	// A server that loses its etcd on the way answers with an error, and may have done it.
	unknown := r.Code == 0 || r.Code >= 500 && !r.Barrier
	if r.Code >= 400 && !unknown && (r.Verb != "delete" || r.Code != http.StatusNotFound) {
		return // it was refused
	}
	f.changes = append(f.changes, fact.Span{Begin: ev.From, End: ev.At})
	d := f.find(told.Remote, told.Group, told.Resource)
	if d == nil {
		d = &definition{of: f, remote: told.Remote, group: told.Group, resource: told.Resource}
		f.definitions = append(f.definitions, d)
	}
	c := &change{of: d, index: len(d.changes), from: ev.From, at: ev.At, seq: ev.Seq, known: !unknown, versions: told.Versions, shortNames: told.ShortNames, begun: ev.From, revision: r.ResourceVersion}
	if c.index > 0 {
		last := d.changes[c.index-1]
		if last.known && c.known && c.wantsAs(last) {
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
	if c.deletes() && d.deleting >= c.revision && d.gone < d.deleting {
		c.at = fact.Forever
	}
	d.add(c)
}

// add takes a change in. One of an object that waits to be removed comes before the removal.
func (d *definition) add(c *change) {
	d.changes = append(d.changes, c)
	if c.index == 0 || !d.changes[c.index-1].waits() {
		return
	}
	removal := d.changes[c.index-1]
	d.changes[c.index-1], d.changes[c.index] = c, removal
	c.index, removal.index = removal.index, c.index
	removal.before, removal.ever = c.versions, c.ever
}

// definitionsOf are those of a group.
func (f *Facts) definitionsOf(group string) []*definition {
	return fact.Where(f.definitions, func(d *definition) bool { return d.group == group })
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

// removing is whether the object waits to be removed at a time: members may list it, or not
// any more.
func (d *definition) removing(at int64) bool {
	return slices.ContainsFunc(d.changes, func(c *change) bool { return (c.waits() || c.removal.Seq > 0) && c.from <= at && at < c.at })
}

// certain is latest where its outcome is known; nil else.
func (d *definition) certain(at int64) *change {
	if c := d.latest(at); c != nil && c.known && !d.removing(at) {
		return c
	}
	return nil
}

// uncertain is whether it is not known at a time what is to be hosted.
func (d *definition) uncertain(at int64) bool { return d.latest(at) != nil && d.certain(at) == nil }

// changing is whether it may be another one soon after a time: the object waits to be removed,
// or a request that was not answered may still be carried out.
func (d *definition) changing(at int64) bool {
	c := d.latest(at)
	return c != nil && (d.removing(at) || !c.known && at-c.at < int64(landsWithin()))
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

// overtaken is the next change whose outcome is known; nil if there is none. Up to that one the
// definition may also be as this one has left it.
func (c *change) overtaken() *change {
	next := c.next()
	for next != nil && !next.known {
		next = next.next()
	}
	return next
}

// possible is whether the definition may have wanted a version by a time, up to one that fits.
func (d *definition) possible(version string, by int64, fits func(over int64) bool) bool {
	return slices.ContainsFunc(d.changes, func(c *change) bool {
		over := int64(fact.Forever)
		if next := c.overtaken(); next != nil {
			over = next.at
		}
		return c.from <= by && slices.Contains(c.versions, version) && fits(over)
	})
}

// wanted is whether any definition may have wanted a group-version at some time between
// two, or so shortly before that the member may still show it: the clock stands while it
// cannot know better.
func (m *member) wanted(of groupVersion, from, to int64, fits func(*definition) bool) bool {
	shows := func(over int64) bool {
		return from-over <= int64(showsWithin()) || m.able().Lasts(over, from, fact.Yes) <= int64(showsWithin())
	}
	return slices.ContainsFunc(m.facts.definitions, func(d *definition) bool {
		return d.group == of.group && fits(d) && d.possible(of.version, to, shows)
	})
}

func anyDefinition(*definition) bool { return true }

// remote is whether an APIService of the harness hands the group-version on at a time, or
// did so shortly before that the member may still show it.
func (m *member) remote(of groupVersion, at int64) bool {
	return m.wanted(of, at, at, func(d *definition) bool { return d.remote })
}

// shared is whether an aggregated server was defined in the group, at any time.
func (f *Facts) shared(group string) bool {
	return slices.ContainsFunc(f.definitions, func(d *definition) bool { return d.remote && d.group == group })
}

// changing is whether a change of the group was under way at some time between two, or is
// one whose outcome is not known by then.
func (f *Facts) changing(group string, from, to int64) bool {
	return slices.ContainsFunc(f.definitions, func(d *definition) bool {
		return d.group == group && (d.uncertain(to) || slices.ContainsFunc(d.changes, func(c *change) bool { return c.from <= to && from <= c.at }))
	})
}

// lacks says how a document that a member gave by a time differs from what a change of a
// CustomResourceDefinition wants; empty if it does not. A group-version goes with the last
// resource in it.
func (c *change) lacks(k *answer, at int64) string {
	d, l := c.of, k.listing
	for _, version := range c.versions {
		of := groupVersion{d.group, version}
		has := find(l.resources(of), d.resource)
		switch {
		case k.member.remote(of, at):
		case has == nil:
			return "does not have " + d.resource + " in " + of.String()
		case l.version(of).Freshness != history.FreshnessCurrent:
			return "calls " + of.String() + " " + strconv.Quote(l.version(of).Freshness)
		case !slices.Equal(has.ShortNames, c.shortNames):
			return fmt.Sprintf("gives %s in %s the short names %v in the place of %v", d.resource, of, has.ShortNames, c.shortNames)
		}
	}
	for _, version := range c.ever {
		of := groupVersion{d.group, version}
		switch {
		case slices.Contains(c.versions, version), l.version(of) == nil, k.member.remote(of, at):
		case l.hosts(of, d.resource):
			return "still has " + d.resource + " in " + of.String()
		case !d.of.foreignIn(d.group) && !k.member.wanted(of, k.from, at, func(other *definition) bool { return other != d }):
			return "still lists " + of.String() + ", in which nothing is defined"
		}
	}
	return ""
}
