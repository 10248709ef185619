package everyrun

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro09: from its first readiness on, a member serves every custom resource that exists;
// 404 says that there is none (custom resources; kubernetes issue 121582 among others). It
// sees lists of custom resources that were established before the API server started,
// while it starts and shortly after. It does not see their objects (RO-01), nor ones that
// are defined later (AD-13).
var ro09 = law.Each[*Facts, custom]{
	Row: law.Row{ID: "RO-09", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Customs, fact.Etcd}, Needs: []law.Need{
		{Name: "served"}, {Name: "servedEach", Each: true},
	}},
	Over: func(f *Facts) []custom { return f.customs },
	End:  custom.served,
}

// served ends what an answer owes of an API server that is ready, or has been since it
// started. It owes nothing of what the definition has not named all the time since then. A
// server that is too busy for an answer has to give one before it is asked no more.
func (c custom) served(law.Bounds) law.Entry {
	e, p, what := c.entry(named(c.Resource, c.Group)), c.process(), fmt.Sprintf("%s was ready and answered a list of %s with %d", c.member, named(c.Resource, c.Group), c.Code)
	ready := c.CustomResourceAnswer.Ready == http.StatusOK
	if p != nil && !ready {
		first := c.facts.FirstReady(p)
		ready = first != nil && first.Latest <= c.From
	}
	switch {
	case !ready:
		return law.Entry{}
	case c.Code == http.StatusOK:
		return e.Met()
	case c.exists(p) != fact.Yes:
		return e.Excused("the definition did not name the version all the time since the API server started")
	case c.Code == http.StatusNotFound:
		return e.Broken("%s", what).Unless(c.facts.ToldAllUntil(c.At))
	case c.CustomResourceAnswer.Ready != http.StatusOK, c.through(c.facts.able(c.member)) != fact.Yes:
		return e.Excused("the member was not ready any more, or a fault was at it")
	case busy[c.Code] && c.answersLater():
		return e.Excused("the member was busy for a moment")
	}
	return e.Unclear("%s", what)
}

// answersLater is whether the same process answers the same question later.
func (c custom) answersLater() bool {
	return slices.ContainsFunc(c.facts.customs, func(o custom) bool {
		return o.Seq > c.Seq && o.Code == http.StatusOK && o.member == c.member && o.Instance == c.Instance &&
			o.Group == c.Group && o.Version == c.Version && o.Resource == c.Resource
	})
}

// process is the one that answered; nil if it was not seen.
func (c custom) process() *fact.Process {
	for _, p := range c.facts.Processes(c.member, history.ComponentAPIServer) {
		if p.Instance == c.Instance {
			return p
		}
	}
	return nil
}

// exists is whether the definition has named what was asked for since a process started. Where
// etcd told of no definition, the recorder has known of it all the same.
func (c custom) exists(p *fact.Process) fact.Truth {
	of, since := fact.Resource{Group: c.Group, Resource: c.Resource}, c.span()
	if d := c.facts.definitions[of]; d == nil || d.Last() == nil {
		return fact.Yes
	}
	if p != nil {
		since.Earliest = min(since.Earliest, p.Started.Latest)
	}
	return c.facts.defined(of, func(d *history.CustomResource) bool { return slices.Contains(d.Served, c.Version) }).During(since)
}
