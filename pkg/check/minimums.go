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
