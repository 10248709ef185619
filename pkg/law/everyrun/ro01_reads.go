package everyrun

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro01: every API server that takes part reads whatever etcd holds of the resources that
// it serves (version skew policy: members of neighboring releases share one etcd). It
// sees what the harness wrote, at holds and at the end. It does not see objects of others,
// fields that get lost while the object and its revision stay, a resource that a member
// stopped to serve altogether, nor a member that is always too busy to answer.
var ro01 = law.Each[*Facts, read]{
	Row: law.Row{ID: "RO-01", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Reads}, Needs: []law.Need{
		{Name: "reads"}, {Name: "readsEach", Each: true},
	}},
	Over: func(f *Facts) []read { return f.reads },
	End:  read.agrees,
}

// agrees is whether the answer holds what etcd does at its own revision. That an answer is
// older than it may be is RO-06's. An answer of 200 has no excuse: whatever disturbs a
// member, what it answers is true.
func (r read) agrees(law.Bounds) law.Entry {
	e, what, first := r.entry(r.of()), r.member+" answered a "+r.How+" of "+r.of(), ""
	if len(r.Names) > 0 {
		first = ", the first " + r.Names[0].Name
	}
	switch ok := r.Code == http.StatusOK; {
	case r.NotServed:
		return e.Excused("the member does not serve the resource")
	case ok && r.Compared && r.Stored+r.Extra == 0:
		return e.Excused("etcd holds none of the objects")
	case ok && !r.Compared:
		return e.Unclear("%s, and it could not be held against etcd: %s", what, r.NotCompared)
	case ok && r.Missing+r.Extra+r.Older+r.Newer == 0:
		return e.Met()
	case ok:
		return e.Broken("%s with %d of %d objects missing, %d that etcd does not hold, %d in an older and %d in a newer state%s",
			what, r.Missing, r.Stored, r.Extra, r.Older, r.Newer, first).Alone()
	case r.facts.converted[fact.Resource{Group: r.Group, Resource: r.Resource}]:
		return e.Excused("a webhook converts the objects, which is not the member's and may be down")
	case r.through(r.facts.healthy(r.member)) != fact.Yes:
		return e.Excused("the member did not serve all the time, or a fault was at it")
	case busy[r.Code]:
		return e.Unclear("%s with %d, which says nothing of it: %s%s", what, r.Code, r.Message, r.Error)
	}
	return e.Broken("%s with %d: %s%s", what, r.Code, r.Message, r.Error).Alone()
}

func (r read) of() string { return named(r.Resource, r.Group) }

// busy are the answers of a member that was busy, and that of a request that was lost.
var busy = map[int]bool{0: true, http.StatusTooManyRequests: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true}
