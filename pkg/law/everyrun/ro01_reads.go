package everyrun

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro01: every API server that takes part reads whatever etcd holds of the resources that
// it serves (version skew policy: members of neighbouring releases share one etcd). It
// sees what the harness wrote, at holds and at the end. It does not see objects of others,
// fields that get lost while the object and its revision stay, a resource that a member
// stopped to serve altogether, nor a member that is always too busy to answer.
var ro01 = law.OnlyIf[*Facts, read]{
	Row: law.Row{ID: "RO-01", Sources: []fact.Source{fact.Etcd, fact.Reads}, Needs: []law.Need{
		{Name: "reads"}, {Name: "readsEach", Each: true},
	}},
	Events: (*Facts).judgedReads,
	Describe: func(r read) law.Entry {
		return law.Entry{About: r.resource() + " at " + r.member, Member: r.member, Began: fact.Exactly(r.At, r.Seq), SelfEvident: true}
	},
	If:     read.readable,
	Excuse: read.excuse,
	Breach: func(r read) (string, []int64) {
		return fmt.Sprintf("%s answered a %s of %s %s", r.member, r.How, r.resource(), r.outcome()), law.Evidence(r.Seq)
	},
}

// judgedReads are all reads, with the health of the members that answered them.
func (f *Facts) judgedReads() []read {
	healthy := map[string]fact.Signal{}
	for _, m := range f.Members() {
		healthy[m] = f.healthy(m)
	}
	out := slices.Clone(f.reads)
	for i, r := range out {
		out[i].healthy = allThrough(healthy[r.member], r.Stamp)
	}
	return out
}

// excuse is why a read proves nothing. An answer of 200 has no excuse: whatever disturbs a
// member, what it answers is true.
func (r read) excuse() string {
	switch {
	case r.Unserved:
		return "the member does not serve the resource"
	case r.Code == http.StatusOK && r.Compared && r.Stored+r.Extra == 0:
		return "etcd holds none of the objects"
	case r.Code != http.StatusOK && r.healthy != fact.Yes:
		return "the member did not serve all the time, or a fault was at it"
	}
	return ""
}

func (r read) resource() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// readable is whether the answer came and holds what etcd does at its own revision. That
// an answer is older than it may be is RO-06's.
func (r read) readable() fact.Truth {
	switch {
	case r.Code == http.StatusOK && !r.Compared:
		return fact.Unknown
	case r.Code == http.StatusOK:
		return fact.Of(r.Missing+r.Extra+r.Older+r.Newer == 0)
	case r.Code == 0, r.Code == http.StatusTooManyRequests, r.Code == http.StatusServiceUnavailable, r.Code == http.StatusGatewayTimeout:
		return fact.Unknown // it was busy, or the request was lost
	}
	return fact.No
}

// outcome is the answer in words.
func (r read) outcome() string {
	if r.Code != http.StatusOK {
		return fmt.Sprintf("with %d: %s%s", r.Code, r.Message, r.Error)
	}
	if !r.Compared {
		return "and it could not be held against etcd: " + r.Uncompared
	}
	first := ""
	if len(r.Names) > 0 {
		first = ", the first " + r.Names[0].Name
	}
	return fmt.Sprintf("with %d of %d objects missing, %d that etcd does not hold, %d in an older and %d in a newer state%s", r.Missing, r.Stored, r.Extra, r.Older, r.Newer, first)
}
