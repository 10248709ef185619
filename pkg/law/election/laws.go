package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// KEP is KEP-4355.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{
	cle01, cle02, cle03, cle04, cle05, cle06, cle07, cle08, cle09, cle10, cle11, cle12, cle13,
	cle14, cle15, cle16, cle17, cle18, cle19, cle20, cle21, cle22, cle23, cle24, cle25, cle26,
	ro03, ro04, ro05, ro10,
}

// notion is a bound that is part of what a word of the KEP means.
func notion(name string) func() time.Duration {
	return func() time.Duration { return requirement.MustBound("KEP-4355", name) }
}

var (
	// candidateValidity is how long a candidate counts that has not renewed.
	candidateValidity = notion("candidateValidity")
	// electionWaits is for how long an election waits for answers.
	electionWaits = notion("electionWaits")
	// answeredWithin is how long before an election its winner may have answered.
	answeredWithin = notion("answeredWithin")
	// certainlyAnswered is within which time after its ping an answer certainly reaches a
	// coordinator that waits for it.
	certainlyAnswered = notion("certainlyAnswered")
	// knownAfter is how long after its creation a coordinator has to know a candidate.
	knownAfter = notion("knownAfter")
	// clocksApart is how far the clocks of two that write to a Lease may be apart.
	clocksApart = notion("clocksApart")
	// noticesWithin is how long a leader may take to notice that its Lease was taken by
	// force or deleted.
	noticesWithin = notion("noticesWithin")
	// requestsEndWithin is how long after it began a request of the harness is over.
	requestsEndWithin = notion("requestsEndWithin")
)

func bound(id requirement.ID, name string) time.Duration { return requirement.MustBound(id, name) }
