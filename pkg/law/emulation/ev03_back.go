package emulation

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// ev03: while no member has raised what it emulates, each member can have the binaries of the
// release before again: it reads what the others have stored, and takes writes (KEP-4330,
// Goals: nothing is enabled that would prevent a rollback). It sees the resources that the
// harness writes. What a rollback meets after that it does not judge, and that the member
// becomes ready RO-02 does.
var ev03 = law.Together[*Facts]{
	Row: law.Row{ID: "EV-03", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Readyz, fact.Requests, fact.Reads}, Needs: []law.Need{
		{Name: "back"}, {Name: "backEach", Tag: readAgrees, Each: true},
	}},
	Parts: []law.Law[*Facts]{takes(func(f *Facts) []restart { return f.restarts(f.rolledBack) }, restart.readsWrong, restart.readsRight)},
}

// readAgrees is the tag of a resource of which the server was seen to read what etcd holds.
const readAgrees = "read"

// reads are the answers of the server to reads of the resource, while no server has raised what
// it emulates.
func (r restart) reads() []read {
	raised := fact.Where(r.f.servers(), func(s *server) bool { return release.Compare(s.version, r.version) > 0 })
	return fact.Where(r.f.reads, func(one read) bool {
		return one.member == r.Member && one.Group == r.resource.Group && one.Resource == r.resource.Resource &&
			one.From >= r.Started.Latest && (r.Exited == nil || one.At <= r.Exited.Earliest) &&
			!slices.ContainsFunc(raised, func(s *server) bool { return s.Started.Earliest <= one.At })
	})
}

func (r restart) readsRight() []string {
	agrees := fact.Where(r.reads(), func(one read) bool { return one.Agrees() && one.Stored > 0 })
	return tagIf(len(agrees) > 0, readAgrees)
}

// readsWrong breaks the obligation by a read that the server could not answer, or answered
// otherwise than etcd holds.
func (r restart) readsWrong(e law.Entry) law.Entry {
	for _, one := range r.reads() {
		at := fact.Moment{Earliest: one.From, Latest: one.At}
		what := fmt.Sprintf("%s runs %s after %s, and answered a %s of %s", r.Member, r.Release, r.before.Release, one.How, r.resource.StorageVersionName())
		switch {
		case one.Code == http.StatusOK && one.Compared && !one.Agrees():
			return e.Broken("%s with %d objects missing, %d that etcd does not hold, and %d in another state", what, one.Missing, one.Extra, one.Older+one.Newer).Shown(r.Started.Seq, one.Seq)
		case one.Code == http.StatusInternalServerError && r.able().During(at) == fact.Yes:
			return e.Broken("%s with %d: %s%s", what, one.Code, one.Message, one.Error).Shown(r.Started.Seq, one.Seq)
		}
	}
	reads := r.reads()
	answers := func(one read) bool { return one.Code == http.StatusOK }
	if e.Ending == law.Met && len(reads) > 0 && !slices.ContainsFunc(reads, answers) {
		return e.Unclear("%s runs %s after %s, and answered no read of %s", r.Member, r.Release, r.before.Release, r.resource.StorageVersionName())
	}
	return e
}
