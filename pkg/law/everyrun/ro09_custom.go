package everyrun

import (
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
// started. It owes nothing of a resource that was taken away since, and an answer of a busy
// member says nothing of the resource.
func (c custom) served(law.Bounds) law.Entry {
	e, p := c.entry(named(c.Resource, c.Group)), c.process()
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
	case busy[c.Code]:
		return e.Excused("the member gave no answer about the resource")
	case c.undefined(p):
		return e.Excused("the definition was deleted")
	case c.Code == http.StatusNotFound:
		return e.Broken("%s was ready and answered a list of %s with %d", c.member, named(c.Resource, c.Group), c.Code)
	}
	return e.Unclear("%s was ready and answered a list of %s with %d", c.member, named(c.Resource, c.Group), c.Code)
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

// undefined is whether the resource was taken away since a process started.
func (c custom) undefined(p *fact.Process) bool {
	d := c.facts.definitions[fact.Resource{Group: c.Group, Resource: c.Resource}]
	return d != nil && slices.ContainsFunc(d.All(), func(v fact.Value[*history.CustomResource]) bool {
		at := c.facts.When(v.Stamp)
		return !v.There && at.Earliest <= c.At && (p == nil || at.Latest >= p.Started.Earliest)
	})
}
