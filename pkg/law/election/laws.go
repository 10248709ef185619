// Package election has the facts and laws of KEP-4355, coordinated leader election: the
// Leases by which components elect their leaders, the LeaseCandidates that stand for them,
// the coordinator that elects, and what acting leaders do.
//
// What every run owes by its Leases is here too (RO-03, RO-04, RO-05 and RO-10), and who
// leads while components emulate older versions (EV-05).
//
// It is internal to Evenkeel: nothing outside of it should build on it.
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
	cle14, cle15, cle16, cle17, cle18, cle19, cle20, cle21, cle22, cle23, cle24, cle25, cle26, cle27, cle28, cle29, cle30, cle31, cle32, cle33,
	ev05,
	ro03, ro04, ro05, ro10,
}

// notion is a bound that is part of what a word of the KEP means.
func notion(name string) time.Duration { return requirement.MustBound("KEP-4355", name) }

func bound(id requirement.ID, name string) time.Duration { return requirement.MustBound(id, name) }
