package defects

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Near defects let what is owed within a bound come about, by little too late, so that a
// harness shows how close to its bounds it judges.
const (
	SV06AgreesLate      ID = "SV-06-agrees-late"
	SV08ReactsLate      ID = "SV-08-reacts-late"
	SV10RegistersLate   ID = "SV-10-registers-late"
	SV16CollectsLate    ID = "SV-16-collects-late"
	SV16ExpiresLate     ID = "SV-16-expires-late"
	SV18DeletesLate     ID = "SV-18-deletes-late"
	AD14ListsLate       ID = "AD-14-lists-late"
	AD15GivesLate       ID = "AD-15-gives-late"
	AD17MarksLate       ID = "AD-17-marks-late"
	AD18RecoversLate    ID = "AD-18-recovers-late"
	AD19UntracksLate    ID = "AD-19-untracks-late"
	AD22HoldsDocuments  ID = "AD-22-holds-documents"
	AD23ShowsLate       ID = "AD-23-shows-late"
	AD24LeavesLate      ID = "AD-24-leaves-late"
	AD29AsksAgain       ID = "AD-29-asks-again"
	CLE01DeclaresLate   ID = "CLE-01-declares-late"
	CLE01ReturnsLate    ID = "CLE-01-returns-late"
	CLE02RenewsEarly    ID = "CLE-02-renews-early"
	CLE02RenewsLate     ID = "CLE-02-renews-late"
	CLE08PreemptsLate   ID = "CLE-08-preempts-late"
	CLE11ReplacesLate   ID = "CLE-11-replaces-late"
	CLE12ReturnsLate    ID = "CLE-12-returns-late"
	CLE13CoordinateLate ID = "CLE-13-coordinates-late"
	CLE15RestlessLate   ID = "CLE-15-restless-late"
	CLE17FlapsSlowly    ID = "CLE-17-flaps-slowly"
	CLE20ClaimsLate     ID = "CLE-20-claims-late"
	CLE21AssignsLate    ID = "CLE-21-assigns-late"
	CLE22Hesitates      ID = "CLE-22-hesitates"
	CLE26AcquiredApart  ID = "CLE-26-acquired-apart"
	CLE27FollowsLate    ID = "CLE-27-follows-late"
	CLE30MarksLate      ID = "CLE-30-marks-late"
	CLE31CountsLate     ID = "CLE-31-counts-late"
	CLE32MarksLate      ID = "CLE-32-marks-late"
	SVM12GoesBack       ID = "SVM-12-goes-back"
	SVM17TellsLate      ID = "SVM-17-tells-late"
	SVM18FailsLate      ID = "SVM-18-fails-late"
	SVM19FailsLate      ID = "SVM-19-fails-late"
	SVM21StopsLate      ID = "SVM-21-stops-late"
	SVM21EndsLate       ID = "SVM-21-ends-late"
	SVM24StopsLate      ID = "SVM-24-stops-late"
	SVM24BeginsLate     ID = "SVM-24-begins-late"
	SVM24UnmarksLate    ID = "SVM-24-unmarks-late"
	SVM15HurriesALittle ID = "SVM-15-hurries-a-little"
	SVM25ShowsLate      ID = "SVM-25-shows-late"
	SVM29HoldsUpLonger  ID = "SVM-29-holds-up-longer"
	SVM30BeginsLate     ID = "SVM-30-begins-late"
	EV03RefusesAtFirst  ID = "EV-03-refuses-at-first"
	EV04RefusesAtFirst  ID = "EV-04-refuses-at-first"
)

// Near is how a defect breaks a bound of the catalog of requirements by little.
type Near struct {
	// Bound is the name of the bound, or of the tolerance, in the row of the requirement.
	Bound string
	// Delay is how late it comes about, in all.
	Delay time.Duration
	// Factor is how many times as much there is, for a bound that is no time.
	Factor float64
}

// By is in words how the bound is broken.
func (n Near) By() string {
	if n.Factor > 0 {
		return fmt.Sprintf("×%.2f", n.Factor)
	}
	return n.Delay.String()
}

type nearDefect struct {
	ID          ID
	Requirement string
	Components  []Component
	Near
	Description string
}

var nearCatalog = []nearDefect{
	{SV06AgreesLate, "SV-06", inBoth, Near{Bound: "agreementForms", Delay: 32 * time.Second}, "equal entries are called an agreement 32 seconds after the last one was written"},
	{SV08ReactsLate, "SV-08", inManager, Near{Bound: "joiningShows", Delay: 16 * time.Second}, "an agreement is taken back 16 seconds after a server joined, which is late also for a collector that begins then"},
	{SV10RegistersLate, "SV-10", inAPIServer, Near{Bound: "registers", Delay: 122 * time.Second}, "after a conflict a server waits until 122 seconds have passed since its start"},
	{SV16CollectsLate, "SV-16", inBoth, Near{Bound: "departedGoes", Delay: 32 * time.Second}, "entries of departed servers are removed 32 seconds after the collector saw that they are not needed"},
	{SV16ExpiresLate, "SV-16", inAPIServer, Near{Bound: "expiredGoes", Delay: 303 * time.Second}, "the identity Lease of a server that went without a word is looked at again 303 seconds after it could have been renewed once more"},
	{SV18DeletesLate, "SV-18", inBoth, Near{Bound: "departedGoes", Delay: 32 * time.Second}, "an object whose entries are all stale loses these first, and is deleted 32 seconds after the collector saw that it is not needed"},
	{AD14ListsLate, "AD-14", inAPIServer, Near{Bound: "showsWithin", Delay: 11 * time.Second}, "the group-version of an APIService is listed 11 seconds after it was added"},
	{AD15GivesLate, "AD-15", inAPIServer, Near{Bound: "givesWithin", Delay: 22 * time.Second}, "a server that has become ready gives no document for 22 seconds"},
	{AD17MarksLate, "AD-17", inAPIServer, Near{Bound: "marksWithin", Delay: 67 * time.Second}, "an aggregated server that fails is called stale 67 seconds later"},
	{AD18RecoversLate, "AD-18", inAPIServer, Near{Bound: "recoversWithin", Delay: 67 * time.Second}, "an aggregated server that answers again is called current 67 seconds later"},
	{AD19UntracksLate, "AD-19", inAPIServer, Near{Bound: "showsWithin", Delay: 11 * time.Second}, "the group-version of an APIService is taken out 11 seconds after that was removed"},
	{AD22HoldsDocuments, "AD-22", inAPIServer, Near{Bound: "givesWithin", Delay: 22 * time.Second}, "when an aggregated server fails for the first time, requests for the document are held for 22 seconds"},
	{AD23ShowsLate, "AD-23", inAPIServer, Near{Bound: "peersShow", Delay: 40 * time.Second}, "what a peer hosts is listed 40 seconds after it was asked"},
	{AD24LeavesLate, "AD-24", inAPIServer, Near{Bound: "peersLeave", Delay: 32 * time.Second}, "what a peer hosted stays listed for 32 seconds after it has left"},
	{AD29AsksAgain, "AD-29", inAPIServer, Near{Bound: "requests", Factor: 1.5}, "an API server redirects the first request of a client that prefers aggregated discovery, so that it sends three"},
	{CLE01DeclaresLate, "CLE-01", inManager, Near{Bound: "declaresWithin", Delay: 32 * time.Second}, "an instance declares itself a candidate 32 seconds after its start"},
	{CLE01ReturnsLate, "CLE-01", inManager, Near{Bound: "declaresAgainWithin", Delay: 333 * time.Second}, "an instance whose candidate was deleted declares itself again 333 seconds later"},
	{CLE02RenewsEarly, "CLE-02", inManager, Near{Bound: "renewsEvery", Delay: 235 * time.Second}, "a candidate renews every 235 seconds, which is 5 seconds earlier than the tolerance renewsEarly allows"},
	{CLE02RenewsLate, "CLE-02", inManager, Near{Bound: "renewsWithin", Delay: 322 * time.Second}, "a candidate that is not pinged renews only after 322 seconds"},
	{CLE08PreemptsLate, "CLE-08", inAPIServer, Near{Bound: "replacesWithin", Delay: 47 * time.Second}, "a leader is told to give way 47 seconds after a better candidate was seen"},
	{CLE11ReplacesLate, "CLE-11", inBoth, Near{Bound: "replacesWithin", Delay: 33 * time.Second}, "a Lease that has expired is given to a candidate 33 seconds later, which is 48 seconds after the crash"},
	{CLE12ReturnsLate, "CLE-12", inManager, Near{Bound: "declaresWithin", Delay: 55 * time.Second}, "a leader that has lost its Lease withdraws as soon as it can, and is a candidate again 55 seconds later, some twenty of which pass under the fault that cost it the Lease"},
	{CLE13CoordinateLate, "CLE-13", inAPIServer, Near{Bound: "coordinatesWithin", Delay: 28 * time.Second}, "the coordinators' Lease lasts for 28 seconds, so that another one takes it as late"},
	{CLE15RestlessLate, "CLE-15", inAPIServer, Near{Bound: "quietAfter", Delay: 47 * time.Second}, "the coordinator pings all candidates 47 seconds after it looked at a healthy leader first, and again every 47 seconds"},
	{CLE17FlapsSlowly, "CLE-17", inAPIServer, Near{Bound: "flapsWithin", Delay: 52 * time.Second}, "a leader is replaced by a candidate that is no better 52 seconds after it was elected, over and over, which with the election makes less than a minute"},
	{CLE20ClaimsLate, "CLE-20", inManager, Near{Bound: "claimsWithin", Delay: 47 * time.Second}, "where no coordinator elects, an instance claims the Lease after 47 seconds"},
	{CLE21AssignsLate, "CLE-21", inAPIServer, Near{Bound: "leftAlone", Delay: 6 * time.Second}, "the Lease of a third party is taken from its holder after 6 seconds"},
	{CLE22Hesitates, "CLE-22", inAPIServer, Near{Bound: "electsWithin", Delay: 16 * time.Second}, "a Lease whose candidates want different strategies is looked at 16 seconds later"},
	{CLE26AcquiredApart, "CLE-26", inAPIServer, Near{Bound: "acquiredApart", Delay: 1200 * time.Millisecond}, "the coordinator dates acquireTime back by 1.2 seconds"},
	{CLE27FollowsLate, "CLE-27", inAPIServer, Near{Bound: "followsWithin", Delay: 47 * time.Second}, "a leader is told to give way 47 seconds after an operator set another strategy"},
	{CLE30MarksLate, "CLE-30", inAPIServer, Near{Bound: "leftAlone", Delay: 6 * time.Second}, "a leader without coordination is told after 6 seconds to give way to a better candidate"},
	{CLE31CountsLate, "CLE-31", inAPIServer, Near{Bound: "replacesWithin", Delay: 47 * time.Second}, "a version that a candidate declares anew counts 47 seconds later"},
	{CLE32MarksLate, "CLE-32", inAPIServer, Near{Bound: "leftAlone", Delay: 6 * time.Second}, "a leader that claimed its Lease is told to give way when there has been a better candidate for 6 seconds"},
	{SVM12GoesBack, "SVM-12", inControllerManager, Near{Bound: "repeats", Factor: 1.2}, "a controller that resumes a migration writes the last three tenths of all objects again, instead of a quarter at most"},
	{SVM15HurriesALittle, "SVM-15", inControllerManager, Near{Bound: "rate", Factor: 1.6}, "migrations write three fifths more objects a second than is declared"},
	{SVM17TellsLate, "SVM-17", inControllerManager, Near{Bound: "long", Delay: 12 * time.Second}, "a migration that runs does not tell how far it is for 12 seconds"},
	{SVM18FailsLate, "SVM-18", inControllerManager, Near{Bound: "failsWithin", Delay: 190 * time.Second}, "a migration of an unknown resource fails 190 seconds after it was created"},
	{SVM19FailsLate, "SVM-19", inControllerManager, Near{Bound: "failsWithin", Delay: 190 * time.Second}, "a migration of a resource that cannot be migrated fails 190 seconds after it was created"},
	{SVM21StopsLate, "SVM-21", inControllerManager, Near{Bound: "stopsWithin", Delay: 17 * time.Second}, "a migration goes on for 17 seconds after the agreement was lost"},
	{SVM21EndsLate, "SVM-21", inControllerManager, Near{Bound: "endsWithin", Delay: 65 * time.Second}, "a migration that lost the agreement stops, and its outcome is written 65 seconds later"},
	{SVM24StopsLate, "SVM-24", inControllerManager, Near{Bound: "stopsWithin", Delay: 12 * time.Second}, "a migration goes on for 12 seconds after its deletion"},
	{SVM24BeginsLate, "SVM-24", inControllerManager, Near{Bound: "beginsWithin", Delay: 12 * time.Second}, "the next migration begins 12 seconds after the one before was deleted"},
	{SVM24UnmarksLate, "SVM-24", inControllerManager, Near{Bound: "unmarksWithin", Delay: 17 * time.Second}, "a definition says for 17 seconds after the deletion of a migration that its resource is being migrated"},
	{SVM25ShowsLate, "SVM-25", inAPIServer, Near{Bound: "showsWithin", Delay: 12 * time.Second}, "watches of migrations by clients that are no component show changes 12 seconds later"},
	{SVM29HoldsUpLonger, "SVM-29", inControllerManager, Near{Bound: "beginsWithin", Delay: 130 * time.Second}, "a worker that makes no progress gives way to other resources after 130 seconds"},
	{SVM30BeginsLate, "SVM-30", inControllerManager, Near{Bound: "beginsWithin", Delay: 72 * time.Second}, "a migration that is due is created 72 seconds after the servers agreed"},
	{EV03RefusesAtFirst, "EV-03", inAPIServer, Near{Bound: "takesWritesWithin", Delay: 13 * time.Second}, "an API server that follows on one with a newer binary and the same behavior refuses to write ballasts for 13 seconds after it has registered"},
	{EV04RefusesAtFirst, "EV-04", inAPIServer, Near{Bound: "takesWritesWithin", Delay: 13 * time.Second}, "an API server that follows on one with the same binary and another behavior refuses to write ballasts for 13 seconds after it has registered"},
}

// defect is the row as any other defect has it.
func (n nearDefect) defect() Defect {
	return Defect{n.ID, n.Requirement, n.Components, n.Description}
}

// timed are the defects among all others that are about time.
var timed = map[ID]Near{
	AD13ShowsLate:       {Bound: "showsWithin", Delay: 11 * time.Second},
	AD16WaitsForRemotes: {Bound: "deadCosts", Delay: 17 * time.Second},
	CLE03SlowAnswers:    {Bound: "answersWithin", Delay: 6 * time.Second},
	CLE04Hesitates:      {Bound: "electsWithin", Delay: 16 * time.Second},
	CLE24Sulks:          {Bound: "recoversWithin", Delay: time.Minute},
	RO02LateAgain:       {Bound: "readyWithin", Delay: 125 * time.Second},
	RO04WaitsAMinute:    {Bound: "ledWithin", Delay: time.Minute},
	RO05Pauses:          {Bound: "actsWithin", Delay: 33 * time.Second},
	RO06LateWatches:     {Bound: "showsWithin", Delay: 11 * time.Second},
	RO11Refuses:         {Bound: "withoutAnswer", Delay: 11 * time.Second},
	SVM27TrimsLate:      {Bound: "trimsWithin", Delay: 17 * time.Second},
}

// NearOf is how a defect breaks a bound by little; false for those that do not.
func NearOf(id ID) (Near, bool) {
	if near, ok := timed[id]; ok {
		return near, true
	}
	i := slices.IndexFunc(nearCatalog, func(n nearDefect) bool { return n.ID == id })
	if i < 0 {
		return Near{}, false
	}
	return nearCatalog[i].Near, true
}

// Delay is how late something comes about by a near defect: 0 unless it is switched on.
func (s Set) Delay(id ID) time.Duration {
	if !s.Has(id) {
		return 0
	}
	near, _ := NearOf(id)
	return near.Delay
}

func nearRows() []Defect {
	out := make([]Defect, len(nearCatalog))
	for i, n := range nearCatalog {
		out[i] = n.defect()
	}
	return out
}

// Waits remembers since when something is due that a near defect puts off. It is safe for
// concurrent use.
type Waits struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// Left is for how long what is due has to wait yet, since it was asked about first; 0 when
// the delay is over.
func (w *Waits) Left(what string, now time.Time, delay time.Duration) time.Duration {
	if delay == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since == nil {
		w.since = map[string]time.Time{}
	}
	since, known := w.since[what]
	if !known {
		since = now
		w.since[what] = now
	}
	return max(since.Add(delay).Sub(now), 0)
}

// Done forgets something that is not due any more.
func (w *Waits) Done(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.since, what)
}
