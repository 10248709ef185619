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
var ro09 = law.OnlyIf[*Facts, customAnswer]{
	Row: law.Row{ID: "RO-09", Sources: []fact.Source{fact.Customs, fact.Etcd}, Needs: []law.Need{
		{Name: "served"}, {Name: "servedEach", Each: true},
	}},
	Events: (*Facts).customAnswers,
	Describe: func(c customAnswer) law.Entry {
		return law.Entry{About: c.Resource + "." + c.Group + " at " + c.member, Member: c.member, Began: fact.Exactly(c.At, c.Seq)}
	},
	If: func(c customAnswer) fact.Truth {
		switch c.Code {
		case http.StatusOK:
			return fact.Yes
		case http.StatusNotFound:
			return fact.No
		}
		return fact.Unknown
	},
	Excuse: customAnswer.excuse,
	Breach: func(c customAnswer) (string, []int64) {
		return fmt.Sprintf("%s was ready and answered a list of %s.%s with %d", c.member, c.Resource, c.Group, c.Code), law.Evidence(c.Seq)
	},
}

type customAnswer struct {
	custom
	facts   *Facts
	process *fact.Process
}

// customAnswers are those of API servers that were ready, or had been since they started.
func (f *Facts) customAnswers() []customAnswer {
	var out []customAnswer
	for _, c := range f.customs {
		p := f.instance(c.member, c.Instance)
		first := (*fact.Moment)(nil)
		if p != nil {
			first = f.FirstReady(p)
		}
		if c.CustomAnswer.Ready == http.StatusOK || first != nil && first.Latest <= c.From {
			out = append(out, customAnswer{c, f, p})
		}
	}
	return out
}

// instance is the process of a member's API server with a number; nil if none has it.
func (f *Facts) instance(member string, number int) *fact.Process {
	for _, p := range f.Processes(member, history.ComponentAPIServer) {
		if p.Instance == number {
			return p
		}
	}
	return nil
}

// excuse is that the resource was taken away since the process started, or that the
// answer says nothing about it: the member was busy, or its process ended.
func (c customAnswer) excuse() string {
	switch c.Code {
	case http.StatusOK:
		return ""
	case 0, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "the member gave no answer about the resource"
	}
	if slices.ContainsFunc(c.facts.undefined, func(u undefined) bool {
		gone := c.facts.When(u.Stamp)
		return u.group == c.Group && u.resource == c.Resource && gone.Earliest <= c.At && (c.process == nil || gone.Latest >= c.process.Started.Earliest)
	}) {
		return "the definition was deleted"
	}
	return ""
}
