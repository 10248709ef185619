package defects

// Defects of what every run owes, whatever the KEP.
const (
	RO01ForgetsV1         ID = "RO-01-forgets-v1"
	RO01ShortPages        ID = "RO-01-short-pages"
	RO01SkipsBetweenPages ID = "RO-01-skips-between-pages"
	RO01StreamsLess       ID = "RO-01-streams-less"
	RO01ServesLess        ID = "RO-01-serves-less"
	RO02Flaps             ID = "RO-02-flaps"
	RO02NeverAgain        ID = "RO-02-never-ready-again"
	RO02LateAgain         ID = "RO-02-late-ready-again"
	RO03EndsItself        ID = "RO-03-ends-itself"
	RO03EndsIdle          ID = "RO-03-ends-idle"
	RO04ElectsNoOther     ID = "RO-04-elects-no-other"
	RO04WaitsAMinute      ID = "RO-04-waits-a-minute"
	RO04WaitsForPreferred ID = "RO-04-waits-for-preferred"
	RO05OnlyRenews        ID = "RO-05-only-renews"
	RO05Pauses            ID = "RO-05-pauses"
	RO06OldLists          ID = "RO-06-old-lists"
	RO06LateWatches       ID = "RO-06-late-watches"
	RO07OwnValue          ID = "RO-07-own-value"
	RO08DropsWrites       ID = "RO-08-drops-writes"
	RO08DropsFewWrites    ID = "RO-08-drops-few-writes"
	RO08DropsDeletions    ID = "RO-08-drops-deletions"
	RO09NotFoundAtFirst   ID = "RO-09-not-found-at-first"
	RO09NotFoundBriefly   ID = "RO-09-not-found-briefly"
	RO10OtherLease        ID = "RO-10-other-lease"
	RO11RefusesLong       ID = "RO-11-refuses-long"
	RO11Refuses           ID = "RO-11-refuses"
)

var everyRunCatalog = []Defect{
	{RO01ForgetsV1, "RO-01", inAPIServer, "release 1.2 neither serves nor decodes v1 of ballasts, which release 1.3 stores"},
	{RO01ShortPages, "RO-01", inAPIServer, "a list of ConfigMaps with a limit leaves its last object out"},
	{RO01SkipsBetweenPages, "RO-01", inAPIServer, "a page of ConfigMaps after the first one leaves its first object out"},
	{RO01StreamsLess, "RO-01", inAPIServer, "a watch of ConfigMaps that begins with all of them leaves the first one out"},
	{RO01ServesLess, "RO-01", inAPIServer, "the API server of the third member has no ballasts, which the others of its release have"},
	{RO02Flaps, "RO-02", inAPIServer, "the API server of the third member is ready for 35 seconds, and then is not for 30, again and again"},
	{RO02NeverAgain, "RO-02", inAPIServer, "an API server that was ready, and then was not or stood still, is never ready again"},
	{RO02LateAgain, "RO-02", inAPIServer, "an API server that was ready, and then was not or stood still, is ready again 125 seconds late"},
	{RO03EndsItself, "RO-03", inManager, "a controller manager ends by itself 20 seconds after its start, with an error"},
	{RO03EndsIdle, "RO-03", inManager, "a controller manager that has not led for 15 seconds since its start ends by itself, without an error"},
	{RO04ElectsNoOther, "RO-04", inBoth, "a Lease that was released or has expired is given to no candidate"},
	{RO04WaitsForPreferred, "RO-04", inAPIServer, "while a Lease names a preferred holder that is no candidate any more, no one is elected for it"},
	{RO04WaitsAMinute, "RO-04", inBoth, "a Lease that was released or has expired is given to a candidate a minute later"},
	{RO05OnlyRenews, "RO-05", inManager, "a leader works for five seconds, and then does nothing but renew its Lease"},
	{RO05Pauses, "RO-05", inManager, "a leader stops working for 33 seconds after five seconds"},
	{RO06OldLists, "RO-06", inAPIServer, "a list of ConfigMaps that must not be older than a revision is answered as the first such list was"},
	{RO06LateWatches, "RO-06", inAPIServer, "watches of ConfigMaps tell of everything 11 seconds late"},
	{RO07OwnValue, "RO-07", []Component{Etcd}, "a member of etcd keeps another value of one key than all members agreed on"},
	{RO08DropsWrites, "RO-08", inAPIServer, "every 20th update of a ConfigMap is acknowledged and dropped"},
	{RO08DropsFewWrites, "RO-08", inAPIServer, "every 100th update of a ConfigMap is acknowledged and dropped"},
	{RO08DropsDeletions, "RO-08", inAPIServer, "every 10th deletion of a ConfigMap is acknowledged and dropped"},
	{RO09NotFoundAtFirst, "RO-09", inAPIServer, "custom resources are answered with 404 for five seconds after the server is ready"},
	{RO09NotFoundBriefly, "RO-09", inAPIServer, "custom resources are answered with 404 for one second after the server is ready"},
	{RO10OtherLease, "RO-10", inManager, "controller managers of release 1.3 use a Lease of their own"},
	{RO11RefusesLong, "RO-11", inAPIServer, "when an API server starts, it and all others answer reads of namespaces with 503 for 30 seconds"},
	{RO11Refuses, "RO-11", inAPIServer, "when an API server starts, it and all others answer reads of namespaces with 503 for 11 seconds"},
}
