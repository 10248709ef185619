package everyrun

import (
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro01: every API server that takes part reads whatever etcd holds of the resources that
// it serves (version skew policy: members of neighbouring releases share one etcd).
var ro01 = law.OnlyIf[*Facts, read]{
	Row: law.Row{ID: "RO-01", Sources: []fact.Source{fact.Etcd, fact.Reads}, Needs: []law.Need{
		{Name: "reads"}, {Name: "readsEach", Each: true},
	}},
	Events: func(f *Facts) []read { return f.readsOf(func(r read) bool { return !r.Unserved }) },
	Describe: func(r read) law.Entry {
		return law.Entry{About: r.resource() + " at " + r.member, Member: r.member, Began: fact.Exactly(r.At, r.Seq)}
	},
	If: read.readable,
	Breach: func(r read) (string, []int64) {
		return fmt.Sprintf("%s answered a %s of %s %s", r.member, r.How, r.resource(), r.outcome()), law.Evidence(r.Seq)
	},
}

// readsOf are the reads that fit of members that were healthy all the time.
func (f *Facts) readsOf(fits func(read) bool) []read {
	healthy := map[string]fact.Signal{}
	for _, m := range f.Members() {
		healthy[m] = f.healthy(m)
	}
	var out []read
	for _, r := range f.reads {
		if fits(r) && allThrough(healthy[r.member], r.Stamp) == fact.Yes {
			out = append(out, r)
		}
	}
	return out
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
