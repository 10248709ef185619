package check

import "time"

// The least of coordinated leader election.
const (
	// needCandidates: processes of each member that declared themselves candidates.
	needCandidates = 1
	// needAnswers: pings that were answered, and needAnswersEach of each member.
	needAnswers     = 3
	needAnswersEach = 1
	// needMade: Leases made for candidates, and of those the ones made anew after
	// somebody had deleted them.
	needMade = 2
	needAnew = 1
	// needElections: elections of the kind that the requirement speaks of.
	needElections = 2
	// needSilent: elections beside a candidate that had not answered.
	needSilent = 1
	// needSameAgain: elections among the same equal candidates, beyond the first.
	needSameAgain = 3
	// needHandovers: changes of leader of the kind that the requirement speaks of.
	needHandovers = 1
	// needTakeovers: Leases taken over from another holder.
	needTakeovers = 2
	// needActorChanges: changes of who acts; needOutlived: leaders that were alive and
	// could not renew for as long as their Lease lasted.
	needActorChanges = 2
	needOutlived     = 1
	// needCoordinatorWrites: pings and elections of which it is known who did them.
	needCoordinatorWrites = 3
	// needQuietRenewals: renewals of Leases while nothing happened.
	needQuietRenewals = 10
	// needUnasked: renewals of candidates that nobody had asked for, each a while
	// after the one before.
	needUnasked = 1
	// needOddLeases: Leases with odd content that were stored.
	needOddLeases = 3
	// needLegacyRenewals: renewals by somebody without coordination, beside candidates.
	needLegacyRenewals = 5
	// needFields: writes of fields that are for coordination, to new Leases and to old
	// ones each.
	needFields = 1
	// needMixed: moments at which members of several releases wanted to lead.
	needMixed = 2
)

// Bounds in time of coordinated leader election.
const (
	// candidateValidity is how long a candidate counts that has not renewed.
	candidateValidity = 30 * time.Minute
	// deadCandidateGoes is how long a candidate may stay that has not renewed.
	deadCandidateGoes = 60*time.Minute + 30*time.Second
	// declaresWithin is how long a process may take to become a candidate.
	declaresWithin = 30 * time.Second
	// declaresAgainWithin is how long one may take whose candidate has gone: until the next
	// renewal, which is after 300 seconds by the KEP, it need not know.
	declaresAgainWithin = 300*time.Second + declaresWithin
	// answersWithin is the window of an election.
	answersWithin = 5 * time.Second
	// answeredLately is how long ago somebody may have answered who is elected: the
	// window, and what the coordinator and the recorder take.
	answeredLately = 2*answersWithin + recorderLag
	// certainlyAnswered is within which time after its ping an answer has certainly
	// reached a coordinator that waits for it.
	certainlyAnswered = 3 * time.Second
	// settledIn is how old a candidate must be so that a coordinator knows of it.
	settledIn = 2 * time.Second
	// electsWithin is how long a Lease may be missing while there are candidates.
	electsWithin = 15 * time.Second
	// replacesWithin is how long it may take after a leader's crash until there is
	// another one, and how long a leader may stay that somebody better could replace.
	replacesWithin = 45 * time.Second
	// takesUpWithin is how long who was elected may take until he shows that he is there:
	// the KEP has a coordinator give a Lease for so long.
	takesUpWithin = 10 * time.Second
	// coordinatesWithin is how long it may take after the crash of the coordinator's
	// server until another one coordinates.
	coordinatesWithin = 20*time.Second + recorderLag
	// noticesWithin is how long a coordinator or a leader may take to notice that somebody has
	// taken its Lease away by force.
	noticesWithin = 15 * time.Second
	// quietAfter is how long nothing must have happened so that elections have come
	// to an end.
	quietAfter = 45 * time.Second
	// settlesWithin is how long elections may go on after the last reason for one that
	// was not an election itself: somebody is elected, and gives way to somebody better.
	settlesWithin = 2 * replacesWithin
	// rarely is the least time between two renewals that nobody has asked for: the
	// KEP has 300 seconds.
	rarely = 240 * time.Second
	// flaps is how soon after a needless change of leader a second one shows that
	// the leadership flaps.
	flaps = 60 * time.Second
	// wellFor is how long nothing must have been wrong with a leader, so that its
	// replacement by one that is not better is needless.
	wellFor = 20 * time.Second
	// recoversWithin is how long an election may be late after writes could pass again.
	recoversWithin = 30*time.Second + recorderLag
	// claimsWithin is how long a Lease may be vacant while nobody coordinates. The KEP
	// has the instances wait for longer than an election takes; this is no more than
	// what a leader's crash may cost with a coordinator, and half as long again as the
	// delay that instances are known to have, for machines that are not idle.
	claimsWithin = replacesWithin
	// leftAlone is after which time a coordinator has had its look at a Lease.
	leftAlone = 5 * time.Second
	// longAgo is longer than any history lasts, and short enough to be reckoned with in
	// nanoseconds.
	longAgo = 100 * 365 * 24 * time.Hour
	// timeShown is how exactly breaches say how long something was.
	timeShown = time.Millisecond
	// survives is for how long a server is looked at that met something odd.
	survives = 3 * time.Second
)
