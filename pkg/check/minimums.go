package check

import "time"

// The least that a check must have seen before it may say pass. Each number is
// small enough for the shortest scenario that judges the requirement, and
// large enough that a run in which the promise was never put to the test falls
// below it.
const (
	// needWritesEach: guarded writes of each member that were judged.
	needWritesEach = 3
	// needRestarts: restarts of the kind that the requirement speaks of.
	needRestarts = 1
	// needHolds: holds of each kind (mixed, finished) that were judged.
	needHolds = 1
	// needForms: answers of each member of the kind that the requirement speaks of.
	needForms = 2
	// needSweeps: thorough looks at each member, while nothing changed, that were
	// compared.
	needSweeps = 1
	// needTroubled: documents of each member while the server of a foreign APIService was
	// in trouble; a member is looked at four times a second while its document changes,
	// and once a second otherwise.
	needTroubled = 10
	// needReads: aggregated documents read in one look, so that a counter which
	// grew with them would show it.
	needReads = 8
	// needDocuments: documents that differ, of one path.
	needDocuments = 2
	// needShown: changes of definitions of each kind that each member showed.
	needShown = 1
	// needCommon: documents that each member showed, and documents that a member
	// showed before and after a restart.
	needCommon = 1
	// needFirstLooks: custom resources that starting servers had to know.
	needFirstLooks = 2
	// needOutages: outages of an aggregated server that each member showed.
	needOutages = 1
	// needMisbehaviours: different misbehaviours of aggregated servers that every
	// member bore.
	needMisbehaviours = 4
	// needUnited: resources that only peers host, of each kind of evidence, at each
	// member that lacks some; needGone: what went with a member that left, at each of
	// the others.
	needUnited = 1
	needGone   = 1
	// needDefined: changes of what is to be hosted before a convergence.
	needDefined = 5
)

// Bounds in time that checks allow.
const (
	// clockSkew is how far the clocks of members may differ, the whole seconds
	// of transition times included.
	clockSkew = 2 * time.Second
	// recorderLag bounds how much later than it happened the etcd recorder tells
	// of a change while it hears of etcd, or has just lost the one that it followed;
	// for how long it heard of none the history says, see aways.
	recorderLag = 5 * time.Second
	// lookedWithin is how long a server must have been ready before it counts
	// that nobody asked what it hosts: the recorder needs about a second on a
	// busy machine, and the server may be taken away meanwhile.
	lookedWithin = 10 * time.Second
	// writeUntold is how far the two sides of a write may be apart: a request
	// may take three seconds, and the etcd recorder five to tell of it, the time aside
	// in which it heard of no etcd. It is twice that, because being wrong here would make
	// everything doubtful.
	writeUntold = 15 * time.Second
	// tail is how much of a history's end may be too late to be judged: the run
	// could as well have ended before.
	tail = 2 * time.Second
)

// Bounds in time of discovery.
const (
	// definitionShows is how soon every ready server shows that a custom resource
	// or an APIService was created, changed or deleted.
	definitionShows = 10 * time.Second
	// firstMoment is how soon after its readiness a look at a server is one at the
	// first moment.
	firstMoment = 2 * time.Second
	// deadCosts is how much later a server may be ready because an aggregated
	// server is dead.
	deadCosts = 15 * time.Second
	// peersShow is how soon after all members are ready, or have left, each knows what
	// the others host, and can hand requests on to them.
	peersShow = 30 * time.Second
	// peersLeave is how soon what only a member hosted is gone after its API server
	// and its identity Lease are.
	peersLeave = 30*time.Second + recorderLag
	// underWay is longer than any request of the harness that defines or deletes
	// something.
	underWay = 5 * time.Second
	// outageShows is how long an aggregated server may be dead before it is marked:
	// Kubernetes asks each minute, and waits some seconds for the answer.
	outageShows = 75 * time.Second
	// recovers is how long it may take until an aggregated server that is back is
	// current again.
	recovers = 70 * time.Second
	// turnsTo is how soon after one misbehaviour of an aggregated server another one
	// begins where it is the server that goes over to it, and never answers in between.
	turnsTo = 100 * time.Millisecond
	// documentBack is how long a ready server may give no discovery document because an
	// aggregated server misbehaves. The recorder waits ten seconds for an answer: this
	// is two of them in a row, so that one that was slow proves nothing.
	documentBack = 20 * time.Second
)

// Bounds in memory.
const (
	// maxViolations is how many violations of one requirement are kept with
	// their evidence; the rest is counted.
	maxViolations = 20
	// maxDeviations is how many examples of a deviation are kept with their
	// evidence; the rest is counted.
	maxDeviations = 5
)

// The least of storage version migration.
const (
	// needRefusals: attempts of each kind that were refused.
	needRefusals = 1
	// needMigrations: migrations of the kind that the requirement speaks of.
	needMigrations = 1
	// needMigrated: objects that a migration had to deal with.
	needMigrated = 5
	// needContents: what objects held that could have been taken for each other.
	needContents = 2
	// needUserWrites: updates by users while a migration ran, and of those the ones
	// of objects that it had still to rewrite; needUserDeletes is of deletes.
	needUserWrites      = 5
	needUserWritesAhead = 1
	needUserDeletes     = 1
	// needRazed: objects that went with their namespace.
	needRazed = 10
	// needPassing: errors that pass by themselves under migrations that succeeded, and
	// needPassingKinds: how many different ones.
	needPassing      = 10
	needPassingKinds = 4
	// needDone: objects that migrations had done when their controller ended.
	needDone = 10
	// largeMigration: objects that a migration has to come to the end with; the default
	// of LargeMigration.
	largeMigration = 100_000
	// needUpgradedMembers: members that were upgraded around very many objects, as many
	// as the smallest control plane has that stays available; needKillsAtEach: kills of
	// the controller at each of killedAt; needServerEnds: API servers that ended on the
	// way.
	needUpgradedMembers = 3
	needKillsAtEach     = 1
	needServerEnds      = 3
	// killedWithin and halfWayWithin are how far, in percent of all objects, from
	// killedAt and halfWay it may have been: objects are written on until a fault bites,
	// and longer until a member is back at an older release.
	killedWithin  = 8
	halfWay       = 50
	halfWayWithin = 15
	// needStatusReports: changes of a migration's status between begin and end.
	needStatusReports = 1
	// needTimed: requests whose time was taken, with and without a migration.
	needTimed = 5
	// pacedWithin is how far a migration may seem to exceed its rate, because the
	// recorder told of some of what it did later than of the rest: in a paceWindow,
	// by what may have been done in a recorderLag.
	pacedWithin = 1.5
	// slowerThan is how many times as long as before the slowest requests may take
	// while a migration runs.
	slowerThan = 3
	// interruptedBeyond is the part of a migration, as one of so many, that must be done
	// at an interruption for it to show where it goes on; and resumesWithin the part
	// of all objects that may be written again. KEP-25 has a controller repeat one
	// chunk; who begins anew repeats more than half.
	interruptedBeyond = 2
	resumesWithin     = 4
	// keptPassing is how many objects whose write met an error are remembered.
	keptPassing = 10_000
	// maxExamples is how many objects a violation names.
	maxExamples = 5
)

// killedAt are the shares, in percent, of very many objects at which the controller
// that migrates them is to be killed.
var killedAt = [...]int64{10, 50, 90}

// Bounds in time of storage version migration.
const (
	// hopelessEnds is how long a migration may take to fail whose resource does not
	// exist, or cannot be migrated.
	hopelessEnds = 3 * time.Minute
	// healthyEnds is how long a migration may go on with nothing in its way and nothing
	// coming of it, and againEach how much longer for each object that it may come to
	// again: two thirds of the pace at which Kubernetes v1.36.3 rewrote objects on two
	// processors, where it was allowed a thousand a second.
	healthyEnds = 5 * time.Minute
	againEach   = 15 * time.Millisecond
	// foreverOpen is how long a migration may run at all in a history, with the servers
	// in agreement, and how long one may wait to begin that nothing is in the way of.
	foreverOpen = 15 * time.Minute
	// beginsWithin is what a migration may take to begin that nothing keeps from it.
	beginsWithin = 10 * time.Second
	// agreementLossStops is how long after an agreement is lost objects may still be
	// rewritten, and agreementLossEnds how long the migration may take to fail.
	agreementLossStops = 15*time.Second + recorderLag
	agreementLossEnds  = time.Minute
	// deletionStops is how long after its deletion a migration may still rewrite
	// objects, and how long the next one of the resource may take to begin.
	deletionStops = 10*time.Second + recorderLag
	// deletionWatched is for how long after that objects in an old version, and no other
	// migration of them, must have been watched.
	deletionWatched = 5 * time.Second
	// migrationShows is how soon clients of every ready server are shown that a
	// migration was created, changed or deleted.
	migrationShows = 10 * time.Second
	// longMigration is one that is long enough for its progress to be told.
	longMigration = 10 * time.Second
	// slowRequest is what a change of one object may take, by the service level
	// objective that Kubernetes publishes for ninety-nine of a hundred.
	slowRequest = time.Second
	// paceWindow is in which time a migration may rewrite no more than is declared for
	// it.
	paceWindow = 2 * recorderLag
	// unservedTakes is how long a request counts as having taken at least that was
	// refused for want of time or not answered: the harness waits so long.
	unservedTakes = 3 * time.Second
	// endShows is how much later than a request fails, because its server ends or is
	// hit by a fault, it may be told what became of the server.
	endShows = 2 * time.Second
	// sameAge is a difference in age that a control plane cannot see, since
	// creation times are in whole seconds.
	sameAge = 2 * time.Second
)
