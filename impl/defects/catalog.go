package defects

import "slices"

// Defects of the storage version API, KEP-2339.
const (
	SV01SkipsAResource        ID = "SV-01-skips-a-resource"
	SV01TakesOneBack          ID = "SV-01-takes-one-back"
	SV02NamelessCore          ID = "SV-02-nameless-core"
	SV03DuplicateEntry        ID = "SV-03-duplicate-entry"
	SV04AcceptsUndecodable    ID = "SV-04-accepts-undecodable"
	SV05ServesMore            ID = "SV-05-serves-more"
	SV06AcceptsFalseAgreement ID = "SV-06-accepts-false-agreement"
	SV06InvertedCondition     ID = "SV-06-inverted-condition"
	SV07RestlessTransition    ID = "SV-07-restless-transition"
	SV08CountsReportedOnly    ID = "SV-08-counts-reported-only"
	SV08DeafToJoining         ID = "SV-08-deaf-to-joining"
	SV09BlindWrite            ID = "SV-09-blind-write"
	SV09PrunesOthers          ID = "SV-09-prunes-others"
	SV10WaitsForQuiet         ID = "SV-10-waits-for-quiet"
	SV11LateJoin              ID = "SV-11-late-join"
	SV12BarrierOpen           ID = "SV-12-barrier-open"
	SV12WrongRefusal          ID = "SV-12-wrong-refusal"
	SV13HoldsReads            ID = "SV-13-holds-reads"
	SV13HoldsReviews          ID = "SV-13-holds-reviews"
	SV13HoldsCustom           ID = "SV-13-holds-custom"
	SV14ReadyEarly            ID = "SV-14-ready-early"
	SV14BarrierLingers        ID = "SV-14-barrier-lingers"
	SV15FirstWriteOlder       ID = "SV-15-first-write-older"
	SV16NeverCollects         ID = "SV-16-never-collects"
	SV16KeepsDisagreement     ID = "SV-16-keeps-disagreement"
	SV16KeepsLeases           ID = "SV-16-keeps-leases"
	SV17KeepsStaleAtBoot      ID = "SV-17-keeps-stale-at-boot"
	SV18KeepsEmpty            ID = "SV-18-keeps-empty"
	SV19UnconditionalDelete   ID = "SV-19-unconditional-delete"
	SV19UnconditionalUpdate   ID = "SV-19-unconditional-update"
	SV20StripsOnError         ID = "SV-20-strips-on-error"
	SV21VanishingEntry        ID = "SV-21-vanishing-entry"
	SV22StaleView             ID = "SV-22-stale-view"
	SV23Touches               ID = "SV-23-touches"
	SV24AnnouncesAfterwards   ID = "SV-24-announces-afterwards"
	SV24AnnouncesOnce         ID = "SV-24-announces-once"
	SV25StandsByItsWord       ID = "SV-25-stands-by-its-word"
	SV25PassesForRegistered   ID = "SV-25-passes-for-registered" //nolint:gosec // G101: it is the name of a defect.
	SV26WrongHash             ID = "SV-26-wrong-hash"
	SV27ReportsForOthers      ID = "SV-27-reports-for-others"
)

var (
	inAPIServer = []Component{APIServer}
	inManager   = []Component{ControllerManager}
	inBoth      = []Component{APIServer, ControllerManager}
)

var catalog = slices.Concat(storageVersionCatalog, discoveryCatalog, electionCatalog, migrationCatalog, emulationCatalog, everyRunCatalog, nearRows())

var storageVersionCatalog = []Defect{
	{SV01SkipsAResource, "SV-01", inAPIServer, "the API server never publishes the storage version of secrets, and does not wait for it"},
	{SV01TakesOneBack, "SV-01", inAPIServer, "the storage version of secrets is taken back while the server becomes ready, and repaired a moment later"},
	{SV02NamelessCore, "SV-02", inAPIServer, "core resources are published a second time under a name that lacks the group word"},
	{SV03DuplicateEntry, "SV-03", inAPIServer, "a server's entry stands twice in each object"},
	{SV04AcceptsUndecodable, "SV-04", inAPIServer, "a status in which a server encodes in a version that it cannot decode is accepted"},
	{SV05ServesMore, "SV-05", inAPIServer, "an entry claims that every decodable version is served"},
	{SV06AcceptsFalseAgreement, "SV-06", inAPIServer, "a status with an agreed version is accepted although its entries differ"},
	{SV06InvertedCondition, "SV-06", inBoth, "the condition says the opposite of the agreement"},
	{SV07RestlessTransition, "SV-07", inBoth, "every write of a status moves the transition time"},
	{SV08CountsReportedOnly, "SV-08", inBoth, "servers that joined but did not report yet are left out of the agreement"},
	{SV08DeafToJoining, "SV-08", inManager, "the agreement is computed again when a server leaves, and not when one joins"},
	{SV09BlindWrite, "SV-09", inAPIServer, "after a conflict the stale copy is written over the newer object, and what got lost is not repaired"},
	{SV09PrunesOthers, "SV-09", inAPIServer, "an API server that registers also removes versions that are only decoded from the entries of others"},
	{SV10WaitsForQuiet, "SV-10", inAPIServer, "after a conflict an API server waits until the object has not changed for three seconds"},
	{SV11LateJoin, "SV-11", inAPIServer, "entries are published before the server joins the participants"},
	{SV12BarrierOpen, "SV-12", inAPIServer, "guarded writes are let through before registration"},
	{SV12WrongRefusal, "SV-12", inAPIServer, "guarded writes are refused with 403 instead of 503"},
	{SV13HoldsReads, "SV-13", inAPIServer, "reads are refused before registration"},
	{SV13HoldsReviews, "SV-13", inAPIServer, "access and token reviews are refused before registration"},
	{SV13HoldsCustom, "SV-13", inAPIServer, "writes to custom resources and aggregated APIs are refused before registration"},
	{SV14ReadyEarly, "SV-14", inAPIServer, "readiness does not wait for registration, which takes a while"},
	{SV14BarrierLingers, "SV-14", inAPIServer, "the barrier stays shut for a while after the server is ready"},
	{SV15FirstWriteOlder, "SV-15", inAPIServer, "the first objects stored after boot are encoded in the previous version"},
	{SV16NeverCollects, "SV-16", inBoth, "entries of departed servers are not removed while the others keep running"},
	{SV16KeepsDisagreement, "SV-16", inManager, "the collector removes entries and leaves the agreement as it was"},
	{SV16KeepsLeases, "SV-16", inAPIServer, "the identity Lease of a server that went without a word is never removed, so that its entries stay"},
	{SV17KeepsStaleAtBoot, "SV-17", inAPIServer, "API servers leave the entries of departed servers in place"},
	{SV18KeepsEmpty, "SV-18", inManager, "an object is kept when its last entry is removed"},
	{SV19UnconditionalDelete, "SV-19", inManager, "an object is deleted whatever was written to it since it was read"},
	{SV19UnconditionalUpdate, "SV-19", inManager, "an update overwrites what others wrote since the object was read"},
	{SV20StripsOnError, "SV-20", inManager, "when participants cannot be read, there are taken to be none"},
	{SV21VanishingEntry, "SV-21", inAPIServer, "a booting server takes its entries out before it puts them back"},
	{SV22StaleView, "SV-22", inAPIServer, "clients are shown the last agreed version while servers disagree"},
	{SV23Touches, "SV-23", inAPIServer, "every round of verification changes an annotation of each object"},
	{SV24AnnouncesAfterwards, "SV-24", inAPIServer, "custom resources are stored in a version as soon as their definition names it, and it is announced a second later"},
	{SV24AnnouncesOnce, "SV-24", inAPIServer, "the storage version of a custom resource is announced when it is defined, and not again when it changes"},
	{SV25StandsByItsWord, "SV-25", inAPIServer, "a server that is started with the storage version API off leaves its earlier entries in place"},
	{SV25PassesForRegistered, "SV-25", inAPIServer, "a server that is started with the storage version API off marks itself as registered"},
	{SV26WrongHash, "SV-26", inAPIServer, "discovery gives one storage version hash for all resources"},
	{SV27ReportsForOthers, "SV-27", inAPIServer, "an API server reports storage versions of resources that aggregated servers store"},
}
