package defects

// Defects of coordinated leader election, KEP-4355.
const (
	CLE01WrongVersion      ID = "CLE-01-wrong-version"
	CLE01StaysUndeclared   ID = "CLE-01-stays-undeclared"
	CLE02RenewsOften       ID = "CLE-02-renews-often"
	CLE03SlowAnswers       ID = "CLE-03-slow-answers"
	CLE04LeavesVacant      ID = "CLE-04-leaves-vacant"
	CLE04Hesitates         ID = "CLE-04-hesitates"
	CLE05ElectsTheSilent   ID = "CLE-05-elects-the-silent"
	CLE06NewestFirst       ID = "CLE-06-newest-first"
	CLE07DrawsLots         ID = "CLE-07-draws-lots"
	CLE08NeverPreempts     ID = "CLE-08-never-preempts"
	CLE09TakesAtOnce       ID = "CLE-09-takes-at-once"
	CLE10ActsOn            ID = "CLE-10-acts-on"
	CLE11NeverTakesExpired ID = "CLE-11-never-takes-expired"
	CLE12StaysAway         ID = "CLE-12-stays-away"
	CLE13AllCoordinate     ID = "CLE-13-all-coordinate"
	CLE14EndsTheServer     ID = "CLE-14-ends-the-server"
	CLE15Restless          ID = "CLE-15-restless"
	CLE16ElectsTheDead     ID = "CLE-16-elects-the-dead"
	CLE17Flaps             ID = "CLE-17-flaps"
	CLE18TakesFromLegacy   ID = "CLE-18-takes-from-legacy"
	CLE19MarksLegacy       ID = "CLE-19-marks-legacy"
	CLE20NoFallback        ID = "CLE-20-no-fallback"
	CLE21Assigns           ID = "CLE-21-assigns"
	CLE22Balks             ID = "CLE-22-balks"
	CLE23FallsOver         ID = "CLE-23-falls-over"
	CLE24Sulks             ID = "CLE-24-sulks"
	CLE25KeepsFields       ID = "CLE-25-keeps-fields"
	CLE25OmitsTheStrategy  ID = "CLE-25-omits-the-strategy"
	CLE26CountsNothing     ID = "CLE-26-counts-nothing"
	CLE27WaitsForAnother   ID = "CLE-27-waits-for-another-election"
	CLE28TakesItBack       ID = "CLE-28-takes-it-back"
	CLE29GoesByVersion     ID = "CLE-29-goes-by-version"
	CLE30MarksAnyway       ID = "CLE-30-marks-anyway"
	CLE31KeepsOldVersions  ID = "CLE-31-keeps-old-versions"
	CLE32MarksClaims       ID = "CLE-32-marks-claims"
	CLE33KeepsTheLease     ID = "CLE-33-keeps-the-lease"
)

var electionCatalog = []Defect{
	{CLE01WrongVersion, "CLE-01", inManager, "a candidate declares the same version in every release"},
	{CLE01StaysUndeclared, "CLE-01", inManager, "an instance whose candidate was deleted does not declare itself again"},
	{CLE02RenewsOften, "CLE-02", inManager, "a candidate renews every ten seconds without a ping"},
	{CLE03SlowAnswers, "CLE-03", inManager, "a candidate answers a ping after six seconds"},
	{CLE04LeavesVacant, "CLE-04", inAPIServer, "the coordinator makes no Lease where there is none"},
	{CLE04Hesitates, "CLE-04", inAPIServer, "the coordinator leaves a Lease that does not exist alone for a while, and makes it then"},
	{CLE05ElectsTheSilent, "CLE-05", inAPIServer, "candidates are elected without being asked whether they are there"},
	{CLE06NewestFirst, "CLE-06", inAPIServer, "the candidate with the highest version is elected, unless the leader has given way to a better one"},
	{CLE07DrawsLots, "CLE-07", inAPIServer, "of equal candidates any one is elected"},
	{CLE08NeverPreempts, "CLE-08", inAPIServer, "a leader stays although a better candidate is there"},
	{CLE09TakesAtOnce, "CLE-09", inAPIServer, "the Lease of a leader is written over as soon as a better candidate is there"},
	{CLE10ActsOn, "CLE-10", inManager, "a leader that stood still goes on acting for a while, although its Lease has run out"},
	{CLE11NeverTakesExpired, "CLE-11", inBoth, "neither the coordinator nor an instance takes an expired Lease"},
	{CLE12StaysAway, "CLE-12", inManager, "a leader that has lost its Lease is no candidate any more"},
	{CLE13AllCoordinate, "CLE-13", inAPIServer, "every API server coordinates, even if another one holds the coordinators' Lease"},
	{CLE14EndsTheServer, "CLE-14", inAPIServer, "a coordinator that loses its Lease ends its API server"},
	{CLE15Restless, "CLE-15", inAPIServer, "all candidates are pinged every five seconds"},
	{CLE16ElectsTheDead, "CLE-16", inAPIServer, "candidates that have expired are elected"},
	{CLE17Flaps, "CLE-17", inAPIServer, "a leader is replaced by a candidate that is no better, over and over"},
	{CLE18TakesFromLegacy, "CLE-18", inBoth, "a coordinator takes the Lease of a leader that is without coordination, and that one acts on until it would have had to renew"},
	{CLE19MarksLegacy, "CLE-19", inAPIServer, "a leader that was not elected by a coordinator is told to give up"},
	{CLE20NoFallback, "CLE-20", inManager, "instances never take a Lease that no coordinator gives them"},
	{CLE21Assigns, "CLE-21", inAPIServer, "a leader is elected whatever the strategy is"},
	{CLE22Balks, "CLE-22", inAPIServer, "a Lease whose candidates want different strategies is left as it is"},
	{CLE23FallsOver, "CLE-23", inAPIServer, "a Lease that does not say when it was renewed ends the process"},
	{CLE24Sulks, "CLE-24", inBoth, "after a failed write the coordinator does nothing for a minute, and no other instance acts instead"},
	{CLE25KeepsFields, "CLE-25", inAPIServer, "an API server without coordination stores the fields of new Leases that are for it"},
	{CLE25OmitsTheStrategy, "CLE-25", inAPIServer, "the coordinator elects a leader for a Lease without a strategy, and stores none"},
	{CLE26CountsNothing, "CLE-26", inAPIServer, "the coordinator gives a Lease to another leader and does not count the transition"},
	{CLE27WaitsForAnother, "CLE-27", inAPIServer, "a strategy that an operator sets on a Lease counts only when that is free"},
	{CLE28TakesItBack, "CLE-28", inAPIServer, "the coordinator elects by the strategy that an operator has set, and writes the candidates' strategy to the Lease"},
	{CLE29GoesByVersion, "CLE-29", inAPIServer, "of several strategies that candidates want the one of the newest candidate holds"},
	{CLE30MarksAnyway, "CLE-30", inAPIServer, "a leader without coordination is told to give way to a better candidate"},
	{CLE31KeepsOldVersions, "CLE-31", inAPIServer, "the coordinator goes by the versions that a candidate declared first"},
	{CLE32MarksClaims, "CLE-32", inAPIServer, "a leader that claimed its Lease while no coordinator elected is told to give way to a better candidate"},
	{CLE33KeepsTheLease, "CLE-33", inManager, "a leader that is told to end lets its Lease expire"},
}
