package defects

// Defects of storage version migration, KEP-25.
const (
	SVM01AnyGroup            ID = "SVM-01-any-group"
	SVM02BothOutcomes        ID = "SVM-02-both-outcomes"
	SVM03OldCheckpoint       ID = "SVM-03-old-checkpoint"
	SVM04SkipsSome           ID = "SVM-04-skips-some"
	SVM04ForgetsUnserved     ID = "SVM-04-forgets-unserved"
	SVM04LeavesSome          ID = "SVM-04-leaves-some"
	SVM04StopsAtExpired      ID = "SVM-04-stops-at-expired"
	SVM05Marks               ID = "SVM-05-marks"
	SVM05Forgets             ID = "SVM-05-forgets"
	SVM05ForgetsStatus       ID = "SVM-05-forgets-status"
	SVM06Restless            ID = "SVM-06-restless"
	SVM07BlindWrite          ID = "SVM-07-blind-write"
	SVM08BringsBack          ID = "SVM-08-brings-back"
	SVM09FailsOnDeletion     ID = "SVM-09-fails-on-deletion"
	SVM10FailsOnError        ID = "SVM-10-fails-on-error"
	SVM10SkipsOnError        ID = "SVM-10-skips-on-error"
	SVM11GivesUp             ID = "SVM-11-gives-up"
	SVM12StartsOver          ID = "SVM-12-starts-over"
	SVM13FailsOnSilence      ID = "SVM-13-fails-on-silence"
	SVM14NewestFirst         ID = "SVM-14-newest-first"
	SVM15Hurries             ID = "SVM-15-hurries"
	SVM16StopsAtMany         ID = "SVM-16-stops-at-many"
	SVM16GivesUpAtMany       ID = "SVM-16-gives-up-at-many"
	SVM17Silent              ID = "SVM-17-silent"
	SVM18UnknownSucceeds     ID = "SVM-18-unknown-succeeds"
	SVM19HopelessSucceeds    ID = "SVM-19-hopeless-succeeds"
	SVM20IgnoresDisagreement ID = "SVM-20-ignores-disagreement"
	SVM21SucceedsAnyway      ID = "SVM-21-succeeds-anyway"
	SVM22OlderAtFirst        ID = "SVM-22-older-at-first"
	SVM23TrimsEarly          ID = "SVM-23-trims-early"
	SVM24GoesOn              ID = "SVM-24-goes-on"
	SVM24LeavesMark          ID = "SVM-24-leaves-mark"
	SVM25HidesLeftovers      ID = "SVM-25-hides-leftovers"
	SVM26SkipsDeleting       ID = "SVM-26-skips-deleting"
	SVM26SkipsFirst          ID = "SVM-26-skips-first"
	SVM27NeverTrims          ID = "SVM-27-never-trims"
	SVM27TrimsLate           ID = "SVM-27-trims-late"
	SVM28SeveralAtATime      ID = "SVM-28-several-at-a-time"
	SVM29HoldsUp             ID = "SVM-29-holds-up"
	SVM30NeverBegins         ID = "SVM-30-never-begins"
	SVM31Launches            ID = "SVM-31-launches"
	SVM32GivesUp             ID = "SVM-32-gives-up"
	SVM32RefusesAggregated   ID = "SVM-32-refuses-aggregated"
)

var inControllerManager = []Component{ControllerManager}

var migrationCatalog = []Defect{
	{SVM01AnyGroup, "SVM-01", inAPIServer, "the name of a migration's group is not looked at"},
	{SVM02BothOutcomes, "SVM-02", inAPIServer, "a migration may both succeed and fail"},
	{SVM03OldCheckpoint, "SVM-03", inControllerManager, "the checkpoint is the revision of the agreement, however old that is"},
	{SVM04SkipsSome, "SVM-04", inControllerManager, "every tenth object is not written, and counts as done"},
	{SVM04LeavesSome, "SVM-04", inControllerManager, "every tenth object is not written, and counts as done; storedVersions is left as it is"},
	{SVM04StopsAtExpired, "SVM-04", inControllerManager, "a list whose history etcd has forgotten counts as read to its end"},
	{SVM04ForgetsUnserved, "SVM-04", inControllerManager, "an object whose resource no server answers for counts as deleted"},
	{SVM05Marks, "SVM-05", inControllerManager, "what is migrated gets an annotation"},
	{SVM05ForgetsStatus, "SVM-05", inControllerManager, "what is migrated is written without its status"},
	{SVM05Forgets, "SVM-05", inAPIServer, "the specs of custom resources are not stored in version v1"},
	{SVM06Restless, "SVM-06", inAPIServer, "every other write of ballasts is stored although it changes nothing"},
	{SVM07BlindWrite, "SVM-07", inControllerManager, "objects are written as they were listed, whatever became of them since"},
	{SVM08BringsBack, "SVM-08", inBoth, "an object that was deleted since it was listed is created again, which the controller manager may do"},
	{SVM09FailsOnDeletion, "SVM-09", inControllerManager, "an object that was deleted since it was listed counts as refused"},
	{SVM10FailsOnError, "SVM-10", inControllerManager, "a write that meets an error which may pass counts as refused"},
	{SVM10SkipsOnError, "SVM-10", inControllerManager, "a write that meets an error which may pass is not repeated, and counts as done"},
	{SVM11GivesUp, "SVM-11", inControllerManager, "the controller fails a migration that another instance has begun"},
	{SVM12StartsOver, "SVM-12", inControllerManager, "a controller that resumes a migration begins at the first object again"},
	{SVM13FailsOnSilence, "SVM-13", inControllerManager, "a write that is not answered counts as refused"},
	{SVM14NewestFirst, "SVM-14", inControllerManager, "of the migrations of a resource the newest has its turn first"},
	{SVM15Hurries, "SVM-15", inControllerManager, "migrations write as fast as they can"},
	{SVM16StopsAtMany, "SVM-16", inControllerManager, "a migration has come to its end after ten thousand objects, whatever is left"},
	{SVM16GivesUpAtMany, "SVM-16", inControllerManager, "a migration fails after five thousand objects"},
	{SVM17Silent, "SVM-17", inControllerManager, "a migration that runs does not tell how far it is"},
	{SVM18UnknownSucceeds, "SVM-18", inControllerManager, "a resource that no API server serves counts as migrated"},
	{SVM19HopelessSucceeds, "SVM-19", inControllerManager, "a resource that cannot be migrated counts as migrated"},
	{SVM20IgnoresDisagreement, "SVM-20", inControllerManager, "a migration begins although the servers do not agree"},
	{SVM21SucceedsAnyway, "SVM-21", inControllerManager, "a migration that lost its agreement has succeeded"},
	{SVM22OlderAtFirst, "SVM-22", inAPIServer, "ballasts are stored in the previous version until they are two seconds old"},
	{SVM23TrimsEarly, "SVM-23", inControllerManager, "storedVersions is trimmed when a migration begins"},
	{SVM24GoesOn, "SVM-24", inControllerManager, "a migration that is deleted goes on to its end"},
	{SVM24LeavesMark, "SVM-24", inControllerManager, "a definition goes on to say that its objects are being migrated"},
	{SVM25HidesLeftovers, "SVM-25", inAPIServer, "lists leave out the migrations from before the server was started"},
	{SVM26SkipsDeleting, "SVM-26", inControllerManager, "objects that are being deleted are not written, and count as done"},
	{SVM26SkipsFirst, "SVM-26", inControllerManager, "the first object of a migration that is being deleted is not written, and counts as done"},
	{SVM27NeverTrims, "SVM-27", inControllerManager, "storedVersions is never trimmed"},
	{SVM27TrimsLate, "SVM-27", inControllerManager, "storedVersions is trimmed 17 s after the migration has succeeded"},
	{SVM28SeveralAtATime, "SVM-28", inControllerManager, "a migration begins although the worker of another resource is at work"},
	{SVM29HoldsUp, "SVM-29", inControllerManager, "a worker that makes no progress does not give way to other resources"},
	{SVM30NeverBegins, "SVM-30", inControllerManager, "no migration is created automatically"},
	{SVM31Launches, "SVM-31", inControllerManager, "a worker goes through the objects of a resource that has one version"},
	{SVM32GivesUp, "SVM-32", inControllerManager, "a migration that has begun fails as soon as no API server offers its resource"},
	{SVM32RefusesAggregated, "SVM-32", inControllerManager, "a resource of aggregated servers counts as one that cannot be migrated"},
}
