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
// 404 says that there is none (custom resources; kubernetes issue 121582 among others).
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
	facts *Facts
}

// customAnswers are those of API servers that were ready, or had been since they started.
func (f *Facts) customAnswers() []customAnswer {
	var out []customAnswer
	for _, c := range f.customs {
		p := f.ProcessAt(c.member, history.ComponentAPIServer, fact.Moment{Earliest: c.From, Latest: c.At})
		first := (*fact.Moment)(nil)
		if p != nil {
			first = f.FirstReady(p)
		}
		if c.CustomAnswer.Ready == http.StatusOK || first != nil && first.Latest <= c.From {
			out = append(out, customAnswer{c, f})
		}
	}
	return out
}

// excuse is that the resource was taken away, or that no answer says anything about it:
// the member was busy, or its process ended.
func (c customAnswer) excuse() string {
	switch {
	case c.Code == http.StatusOK:
		return ""
	case slices.ContainsFunc(c.facts.undefined, func(u undefined) bool {
		return u.group == c.Group && u.resource == c.Resource && c.facts.When(u.Stamp).Earliest <= c.At
	}):
		return "the definition was deleted"
	case c.Code != http.StatusNotFound:
		return "the member gave no answer about the resource"
	}
	return ""
}
