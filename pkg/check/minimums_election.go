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
	// needOddLeases: Leases with odd content that were stored.
	needOddLeases = 3
)

// Bounds in time of coordinated leader election.
const (
	// candidateValidity is how long a candidate counts that has not renewed.
	candidateValidity = 30 * time.Minute
	// deadCandidateGoes is how long a candidate may stay that has not renewed.
	deadCandidateGoes = 60*time.Minute + 30*time.Second
	// declaresWithin is how long a process may take to become a candidate.
	declaresWithin = 30 * time.Second
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
	// leftAlone is after which time a coordinator has had its look at a Lease.
	leftAlone = 5 * time.Second
	// survives is for how long a server is looked at that met something odd.
	survives = 3 * time.Second
)
