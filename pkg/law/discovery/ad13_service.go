package discovery

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// removedService is that an APIService went from etcd. The lists that are not aggregated are made
// of APIServices, which all servers share: one that goes takes its group-version out of the lists
// of all members, and clients take it for gone, however soon a server makes it again
// (kubernetes/kubernetes#118103).
type removedService struct {
	groupVersion
	facts *Facts
	stamp fact.Stamp
}

func (f *Facts) observeRemovedService(ev *history.Event) {
	name, ok := strings.CutPrefix(ev.Stored.Key, apiServices)
	if version, group, named := strings.Cut(name, "."); ok && named && ev.Stored.Type == history.StoredDelete {
		f.services = append(f.services, removedService{groupVersion{group, version}, f, fact.StampOf(ev)})
	}
}

func (f *Facts) removedServices() []removedService { return f.services }

// ended looks for a custom resource that wants the group-version, and of which all members know. An
// APIService of the harness may be removed by the harness.
func (r removedService) ended(law.Bounds) law.Entry {
	at := r.facts.When(r.stamp)
	of := r.facts.definitionsOf(r.group)
	handedOn := func(d *definition) bool {
		return d.remote && d.possible(r.version, at.Latest, func(int64) bool { return true })
	}
	if slices.ContainsFunc(of, handedOn) || r.facts.changing(r.group, at.Earliest, at.Latest) {
		return law.Entry{}
	}
	for _, d := range of {
		c := d.certain(at.Latest)
		if c != nil && slices.Contains(c.versions, r.version) && r.facts.known(c.at, at.Earliest) {
			return law.Of("the APIService of "+r.String(), at).Broken("the APIService of %s was removed though %s wants it", r, d).Shown(c.seq, at.Seq)
		}
	}
	return law.Entry{}
}

// known is whether all API servers that live have had the time to learn by an instant of what was
// changed: they started later, or were not frozen for so long.
func (f *Facts) known(changed, by int64) bool {
	return f.shown(changed, by) && !slices.ContainsFunc(f.all(), func(m *member) bool {
		p := f.LastProcess(m.name, history.ComponentAPIServer, by)
		return p != nil && p.Alive().At(by) != fact.No && p.Started.Earliest <= changed && m.able().Lasts(changed, by, fact.Yes) < int64(showsWithin())
	})
}
