package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// An API server that starts while the harness keeps its etcd from running cannot go on.
func TestCLE23_BlamesNoEndOfAnAPIServerWithoutItsEtcd(t *testing.T) {
	starts := func() *electionBuilder {
		b := controlPlane("1.2.0").etcd("a", history.ProcessStarted, 1).wait(time.Second).etcd("a", history.ProcessExited, 1)
		b.endServer("a", 1).events[len(b.events)-2].Process.Expected = true
		return b.storeOdd(probeLease).wait(time.Second).startServer("a", 2).wait(time.Second)
	}
	starts().endServer("a", 2).expectBreaches(t, "CLE-23")
	starts().etcd("a", history.ProcessStarted, 2).wait(time.Second).endServer("a", 2).expectBreaches(t, "CLE-23", "the API server of a ended")
}

// An etcd that has trouble fails requests whatever they ask for.
func TestCLE23_CLE25_AFailureOfEtcdIsNoFailureOfTheServer(t *testing.T) {
	for _, what := range []string{history.ElectionMalformed, history.ElectionFields} {
		id := map[string]requirement.ID{history.ElectionMalformed: "CLE-23", history.ElectionFields: "CLE-25"}[what]
		answered := func(code int, message string) *electionBuilder {
			told := controlPlane("1.2.0")
			return told.add(history.Event{Kind: history.KindRequest, Member: "a", From: told.now, Request: &history.Request{
				Class: history.ClassElection, Election: what, Verb: "update", Resource: "leases", Name: probeLease, Code: code, Message: message,
			}})
		}
		answered(500, "etcdserver: leader changed").expectBreaches(t, id)
		answered(503, "the server is currently unable to handle the request").expectBreaches(t, id)
		answered(504, "Timeout: request did not complete within requested timeout - context deadline exceeded").expectBreaches(t, id)
		answered(500, "This request caused apiserver to panic. Look in the logs for details.").expectBreaches(t, id, "answered 500")
	}
}
