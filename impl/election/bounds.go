package election

import "time"

// The bounds of this package, all in one place. None of them is what keeps two
// instances from leading at once; see doc.go for what does.
const (
	// CandidateRenewal is how often a candidate renews without a ping. It is the value
	// of KEP-4355.
	CandidateRenewal = 300 * time.Second
	// CandidateValidity is how long a candidate counts that has not renewed. Several
	// renewals may fail before.
	CandidateValidity = 30 * time.Minute
	// AnswerWindow is how long an election waits for answers to its pings. It is
	// what the KEP has.
	AnswerWindow = 5 * time.Second
	// ElectedDuration is the duration of a Lease as the coordinator writes it: the
	// elected has that long to renew it for the first time. It is what the KEP has.
	ElectedDuration = 10 * time.Second
	// OddDuration is for how long a Lease holds that does not say so.
	OddDuration = 15 * time.Second
	// Retry is the pause after an election in which no candidate answered.
	Retry = time.Second

	// LeaseDuration, RenewDeadline and RetryPeriod are the default timings of a leader.
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second

	// FallbackDelay is how long a Lease may have no holder before the instances take
	// it without a coordinator. An election takes no longer than AnswerWindow, and
	// the next coordinator starts before the delay ends.
	FallbackDelay = 25 * time.Second
	// FallbackStep is how much longer each candidate waits that is not the best.
	FallbackStep = 4 * time.Second
)
