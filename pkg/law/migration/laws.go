package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// KEP is KEP-25.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{
	svm01, svm02, svm03, svm04, svm05, svm06, svm07, svm08, svm09, svm10, svm11, svm12, svm13,
	svm14, svm15, svm16, svm17, svm18, svm19, svm20, svm21, svm22, svm23, svm24, svm25, svm26, svm27,
}

// written is a law that is written by hand.
type written = law.Written[*Facts]

// deadline is a law by which something comes of migrations in time.
type deadline = law.Deadline[*Facts, *Migration]

// parts are those of a law of several.
type parts = []law.Law[*Facts]

// notion is a bound that is part of what a word of the KEP means.
func notion(name string) func() time.Duration {
	return func() time.Duration { return requirement.MustBound("KEP-25", name) }
}

var (
	// statusWrites is for how long a controller may be writing what it has decided.
	statusWrites = notion("statusWrites")
	// controllerStarts is how long a controller manager that comes to lead may take to
	// start its work.
	controllerStarts = notion("controllerStarts")
	// goesOnWithin is for how long nothing may come of a migration that runs.
	goesOnWithin = notion("goesOnWithin")
	// passesObject is how long a controller may take for an object that is in the target
	// version already.
	passesObject = notion("passesObject")
	// restLands is for how long what was on its way when a migration ended still lands.
	restLands = notion("restLands")
	// writesShow is how soon the recorder of etcd tells of a write that was accepted.
	writesShow = notion("writesShow")
)

// kindDisagreed is of breaches of SVM-20 and SVM-21 in which a migration took no notice of
// what the servers announce.
const kindDisagreed = "disagreed"
