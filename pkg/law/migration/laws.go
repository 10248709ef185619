package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// KEP is KEP-25.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{
	svm01, svm02, svm03, svm04, svm05, svm06, svm07, svm08, svm09, svm10, svm11, svm12, svm13,
	svm14, svm15, svm16, svm17, svm18, svm19, svm20, svm21, svm22, svm23, svm24, svm25, svm26, svm27,
	svm28, svm29, svm30, svm31, svm32,
}

// The shapes of laws over the facts of migrations: written by hand, of which each subject is
// one obligation, by which something comes of migrations in time, and of several parts.
type (
	written     = law.Written[*Facts]
	each[S any] = law.Each[*Facts, S]
	deadline    = law.Deadline[*Facts, *Migration]
	together    = law.Together[*Facts]
	parts       = []law.Law[*Facts]
)

// notion is a bound that is part of what a word of the KEP means; the catalog says why.
func notion(name string) func() time.Duration {
	return func() time.Duration { return requirement.MustBound("KEP-25", name) }
}

var (
	statusWrites     = notion("statusWrites")     // a controller may be writing what it has decided
	controllerStarts = notion("controllerStarts") // one that comes to lead may take to start its work
	goesOnWithin     = notion("goesOnWithin")     // nothing may come of a migration that runs
	passesObject     = notion("passesObject")     // an object may take that is in the target version
	restLands        = notion("restLands")        // what was on its way when a migration ended still lands
)

// kindDisagreed is of breaches of SVM-20 and SVM-21 in which a migration took no notice of
// what the servers announce.
const kindDisagreed = "disagreed"

// needs are those of obligations that have their names as tags.
func needs(tags ...string) []law.Need {
	return fact.Each(tags, func(tag string) law.Need { return law.Need{Name: tag, Tag: tag} })
}

// tally is an obligation that stands for so many that were met; none if there are none.
func tally(e law.Entry, n int64, tags ...string) law.Entry {
	if n == 0 {
		return law.Entry{}
	}
	return e.Met(tags...).For(n)
}

// inTime gives a tag to what came about within a bound by any clock: what came about later
// because no controller was able to bring it about does not show that controllers do.
func inTime(tag string, id requirement.ID, bound string, counts func(*Migration) bool) func(*Migration, fact.Moment, fact.Moment) []string {
	return func(m *Migration, began, done fact.Moment) []string {
		if _, most := began.Until(done); most <= requirement.MustBound(id, bound) && counts(m) {
			return []string{tag}
		}
		return nil
	}
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Second) }

// maxExamples is how many objects a breach names.
const maxExamples = 5

// evidenceOf names the first events of changes.
func evidenceOf(first int64, changes []*Change) []int64 {
	return append([]int64{first}, fact.Each(changes[:min(len(changes), maxExamples)], func(c *Change) int64 { return c.Seq })...)
}
