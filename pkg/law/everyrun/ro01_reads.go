package everyrun

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ro01: every API server that takes part reads whatever etcd holds of the resources that
// it serves (version skew policy: members of neighboring releases share one etcd). It
// sees what the harness wrote, at holds and at the end. It does not see objects of others,
// fields that get lost while the object and its revision stay, nor a resource that all servers
// of a release stopped to serve.
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
		return r.unserved(e)
	case ok && r.Compared && r.Stored+r.Extra == 0:
		return e.Excused("etcd holds none of the objects")
	case ok && !r.Compared:
		return e.Unclear("%s, and it could not be held against etcd: %s", what, r.NotCompared)
	case ok && r.Missing+r.Extra+r.Older+r.Newer == 0:
		return e.Met()
	case ok:
		return e.Broken("%s with %d of %d objects missing, %d that etcd does not hold, %d in an older and %d in a newer state%s",
			what, r.Missing, r.Stored, r.Extra, r.Older, r.Newer, first).Alone()
	case r.How == history.ReadContinued && r.Code == http.StatusGone && r.NotCompared != "":
		return e.Excused("etcd may not have the revision of the list any more: %s", r.NotCompared)
	case r.webhookFails():
		return e.Excused("a webhook converts the objects, which is not the member's and is down")
	case r.through(r.facts.able(r.member)) != fact.Yes:
		return e.Excused("the member did not serve all the time, a fault was at it, or etcd had no majority")
	case busy[r.Code]:
		return r.stillBusy(e, what)
	}
	return e.Broken("%s with %d: %s%s", what, r.Code, r.Message, r.Error).Alone()
}

// webhookFails is whether the member says that a webhook did not convert objects, or was busy,
// while a definition names a webhook that the member may know of.
func (r read) webhookFails() bool {
	if !busy[r.Code] && !strings.Contains(r.Message, "conversion webhook") {
		return false
	}
	named := r.facts.defined(r.resource(), func(d *history.CustomResource) bool { return d.Webhook })
	return slices.ContainsFunc(named.Spans(fact.Unknown), func(s fact.Span) bool { return s.Begin <= r.At && !r.knows(s.End) })
}

// knows is whether the member was able, from an instant to the request and since its API server
// started, for as long as a definition may take to show.
func (r read) knows(since int64) bool {
	if p := r.process(); p != nil {
		since = max(since, p.Started.Latest)
	}
	able := r.facts.able(r.member).Lasts(since, r.span().Earliest, fact.Yes)
	return time.Duration(able) > requirement.MustBound("AD-13", "showsWithin")
}

// unservedCustom is what a member owes that does not serve a custom resource: nothing, unless the
// member was to know that it is established.
func (r read) unservedCustom(e law.Entry) law.Entry {
	is := r.facts.defined(r.resource(), func(d *history.CustomResource) bool { return d.Established && len(d.Served) > 0 })
	known := slices.ContainsFunc(is.Spans(fact.Yes), func(s fact.Span) bool {
		return s.Begin <= r.span().Earliest && r.At < s.End && r.knows(s.Begin)
	})
	switch {
	case !known:
		return e.Excused("the custom resource was not established, or not for long while the member served")
	case r.through(r.facts.able(r.member)) != fact.Yes:
		return e.Excused("the member did not serve all the time, a fault was at it, or etcd had no majority")
	}
	return e.Broken("%s does not serve %s, which is established", r.member, r.of()).Unless(r.facts.ToldAllUntil(r.At))
}

// unserved is what a member owes that does not serve a resource: nothing, unless another
// server of its release that has the same features does. That is asked of built-in resources:
// which servers have another one, their release does not decide.
func (r read) unserved(e law.Entry) law.Entry {
	f, of, p := r.facts, r.resource(), r.process()
	switch {
	case f.definitions[of] != nil:
		return r.unservedCustom(e)
	case f.Defined(of):
		return e.Unclear("%s does not serve %s, and etcd never told of the definition, which was asked for", r.member, r.of())
	}
	if p == nil || p.Release == "" || f.Hosted(of) != fact.HostedBuiltIn {
		return e.Excused("the member does not serve the resource")
	}
	other, ok := f.answered()[serving{of, p.Release, features(p)}]
	switch {
	case !ok:
		return e.Excused("no server of the member's release serves the resource")
	case r.through(f.able(r.member)) != fact.Yes:
		return e.Excused("the member did not serve all the time, a fault was at it, or etcd had no majority")
	}
	return e.Broken("%s does not serve %s, and a server of its release, %s, did: that of %s", r.member, r.of(), p.Release, other.member).Shown(other.Seq, r.Seq)
}

// serving is which servers answered for a resource.
type serving struct {
	fact.Resource
	release, features string
}

func features(p *fact.Process) string { return strings.Join(slices.Sorted(slices.Values(p.Off)), ",") }

// answered are the first reads that servers answered.
func (f *Facts) answered() map[serving]read {
	return fact.Cached(f.History, serving{}, func() map[serving]read {
		out := map[serving]read{}
		for _, r := range slices.Backward(f.reads) {
			if p := r.process(); p != nil && r.Code == http.StatusOK {
				out[serving{r.resource(), p.Release, features(p)}] = r
			}
		}
		return out
	})
}

// process is the API server that was asked; nil where it is not certain which one it was.
func (r read) process() *fact.Process {
	return r.facts.ProcessAt(r.member, history.ComponentAPIServer, r.span())
}

func (r read) resource() fact.Resource {
	return fact.Resource{Group: r.Group, Resource: r.Resource}
}

func (r read) of() string { return named(r.Resource, r.Group) }

// busy are the answers of a member that was busy, and that of a request that was lost.
var busy = map[int]bool{0: true, http.StatusTooManyRequests: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true}
