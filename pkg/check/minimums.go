package check

import "time"

// The least that a check must have seen before it may say pass. Each number is
// small enough for the shortest scenario that judges the requirement, and
// large enough that a run in which the promise was never put to the test falls
// below it.
const (
	// needReadyServers: instances of API servers whose first readiness was seen
	// together with what they host.
	needReadyServers = 1
	// needNames: StorageVersions whose names were compared with discovery, of
	// the core group and of named groups each.
	needNames = 1
	// needEntries: entries seen in StorageVersions, and objects compared.
	needEntries = 10
	// needServedCompared: entries compared with a server's discovery.
	needServedCompared = 5
	// needRefusedProbes: invalid statuses that a server refused while it took a
	// valid one at the same time.
	needRefusedProbes = 1
	// needEntriesEach: objects compared of what each member hosts.
	needEntriesEach = 5
	// needAgreements and needDisagreements: revisions of StorageVersions with
	// and without an agreed version among reported entries.
	needAgreements    = 5
	needDisagreements = 1
	// needConcurrentObjects: StorageVersions that several servers wrote at
	// the same time, so that they could have lost an entry.
	needConcurrentObjects = 5
	// needSilences: StorageVersions in which a participant did not report.
	needSilences = 5
	// needStormsEach: registrations of each member while its StorageVersions were
	// edited; needConflicts and needEdits: conflicts that it met meanwhile, and
	// edits.
	needStormsEach = 1
	needConflicts  = 1
	needEdits      = 3
	// needJoins: first entries of a server, and of each member's.
	needJoins     = 3
	needJoinsEach = 1
	// needBarrierRefusals: guarded writes that reached a server while it had
	// not registered.
	needBarrierRefusals = 5
	// needRefusalsEach: such writes that reached each member.
	needRefusalsEach = 2
	// needBarrierPasses: requests of each class that passed in the meantime;
	// through each member, of the classes that need nothing but the server.
	needBarrierPasses = 1
	// needFailures: requests that failed at a member which let none of their
	// class pass, where the class has to wait for something that is not up yet.
	needFailures = 5
	// answersForSlow: requests of a class that must have passed through a member, or
	// writes to a resource that it must have refused, for each one that it did not
	// answer in time.
	answersForSlow = 4
	// needRegistrations: starts of a server, and of each member's, at which it
	// had something new to register, with guarded writes accepted afterwards.
	needRegistrations = 1
	// needWritesAfterReady: guarded writes answered by ready servers.
	needWritesAfterReady = 10
	// needWritesEach: guarded writes of each member that were judged.
	needWritesEach = 3
	// needTaggedWrites: objects in etcd whose writer is known.
	needTaggedWrites = 30
	// needStoredVersions: different versions of one resource really stored.
	needStoredVersions = 2
	// needRestarts: restarts of the kind that the requirement speaks of.
	needRestarts = 1
	// needWritesAfterRestart: tagged writes by servers that restarted with
	// another storage version.
	needWritesAfterRestart = 5
	// needHolds: holds of each kind (mixed, finished) that were judged.
	needHolds = 1
	// needUnchangedStarts and needContentChanges: starts that changed nothing,
	// and revisions that changed something.
	needUnchangedStarts = 1
	needContentChanges  = 5
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
	// needFlips: flips of a custom resource's storage version of each kind, onward
	// and back, that each member followed.
	needFlips = 1
	// needSilentWrites: writes of servers without the StorageVersion API in another
	// version than the others had announced, and needVisits: resources that a server
	// reported again when it had it again, and agreements that were formed then.
	needSilentWrites = 5
	needVisits       = 1
	// needDepartures: entries that went after their server had, and needFormed:
	// agreements that were formed because of that.
	needDepartures = 5
	needFormed     = 1
	// needEmptied: objects removed in which nobody who takes part had an entry.
	needEmptied = 1
	// needStaleAtBoot: stale entries that a starting server found which nobody else
	// can have removed.
	needStaleAtBoot = 5
	// needRaces: writes of a collector of each kind that were under way while a
	// participant added its entry to the same object.
	needRaces = 1
	// needBlindLookups: look-ups of a collector that failed, and needTempted:
	// objects that it had something to do with at that time, and did it later.
	needBlindLookups = 5
	needTempted      = 1
	// needUnchangedOutcomes: revisions of StorageVersions that changed
	// something else than the outcome of the agreement.
	needUnchangedOutcomes = 1
)

// Bounds in time that checks allow.
const (
	// agreementSettles is how long equal entries of all participants may stay
	// without an agreed version: a collector or a server has to notice first,
	// and the etcd recorder to tell.
	agreementSettles = 30*time.Second + recorderLag
	// joiningShows is how long an agreement may outlive the joining of a server that
	// has not reported: somebody has to see the identity Lease, through a watch, and
	// to write to each StorageVersion; and the etcd recorder to tell.
	joiningShows = 10*time.Second + recorderLag
	// departedEntryGoes is how long the entry of a server may stay after its
	// Lease is deleted.
	departedEntryGoes = 30 * time.Second
	// finishesWithin is how long a server may go on with what it was asked, once its
	// entries were taken away because it had given up its Lease. Kubernetes ends
	// requests after a minute.
	finishesWithin = 60 * time.Second
	// registers is how long a server may take from its start until it has
	// registered and is ready, whatever it meets. Kubernetes waits a second after
	// each conflict.
	registers = 120 * time.Second
	// stormy is how much time a StorageVersion that is edited in a storm may have
	// for each edit.
	stormy = time.Second
	// expiredEntryGoes is how much longer than twice its duration the Lease of a
	// server may be left unrenewed before its entries have gone. Kubernetes looks
	// for expired Leases as often as they last.
	expiredEntryGoes = 5 * time.Minute
	// expiryLook is the pause between two looks at whether something is overdue.
	expiryLook = time.Second
	// addedMeanwhile is how old an entry may be at most that was added while a write
	// was under way: the writer had given up long before.
	addedMeanwhile = 60 * time.Second
	// tamperRepaired is how long a control plane may take to repair what was
	// done to its StorageVersions behind its back.
	tamperRepaired = 10*time.Minute + 30*time.Second
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
	// maxQuestions is how many things may wait for the etcd recorder to tell of
	// their revision.
	maxQuestions = 100_000
)
