package emulation

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ev04: what a member emulates can be raised, and lowered again, one member at a time, while
// the others behave otherwise: it takes writes again (KEP-4330, stories 1 and 2). That the
// control plane keeps all other promises meanwhile needs no law of its own: each requirement
// is judged of the whole history, and a breach while members raise is one as at any other
// time. It sees the resources that the harness writes and the server still hosts.
var ev04 = law.Together[*Facts]{
	Row: law.Row{ID: "EV-04", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Readyz, fact.Requests, fact.Discovery}, Needs: []law.Need{
		{Name: "raisedEach", Tag: up, Each: true}, {Name: "lowered", Tag: down},
	}},
	Parts: []law.Law[*Facts]{takes(func(f *Facts) []restart {
		return fact.Where(f.restarts(func(s, before *server) bool { return raised(s, before) || lowered(s, before) }), restart.hosted)
	}, nil, restart.way)},
}

// up and down are the tags of what was raised and lowered.
const up, down = "raised", "lowered"

func (r restart) way() []string {
	if raised(r.server, r.before) {
		return []string{up}
	}
	return []string{down}
}

// hosted is whether the server was seen to host the resource: an older or a newer version may
// not have it.
func (r restart) hosted() bool {
	return len(fact.Where(r.f.looks(), func(l looked) bool { return l.server == r.server && len(l.versions(r.resource)) > 0 })) > 0
}
