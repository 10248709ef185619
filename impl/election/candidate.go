package election

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Live reports whether a candidate counts.
//
// KEP-4355: a candidate that has expired is not available for leadership. One whose last
// renewal is as far in the future says just as little of whether it is there, and would
// go on to for as long as that.
func Live(c *Candidate, now time.Time) bool {
	return c.Spec.RenewTime != nil && now.Sub(c.Spec.RenewTime.Time).Abs() < CandidateValidity
}

// Living returns the candidates that count.
func Living(candidates []*Candidate, now time.Time) []*Candidate {
	var live []*Candidate
	for _, c := range candidates {
		if Live(c, now) {
			live = append(live, c)
		}
	}
	return live
}

// Dead reports whether a candidate can be removed: it has not renewed for so long
// that nothing would be lost if it came back as a new one.
func Dead(c *Candidate, now time.Time) bool {
	last := c.CreationTimestamp.Time
	if renewed := c.Spec.RenewTime; renewed != nil && renewed.Sub(now) < CandidateValidity {
		last = renewed.Time
	}
	return now.Sub(last) >= CandidateValidity
}

// Answered reports whether a candidate has answered a ping.
//
// KEP-4355: a candidate answers a ping by renewing.
func Answered(c *Candidate, ping metav1.MicroTime) bool {
	return c.Spec.RenewTime != nil && !c.Spec.RenewTime.Before(&ping)
}

// Owes reports whether a candidate has a ping to answer.
func Owes(c *Candidate) bool {
	return c.Spec.PingTime != nil && !Answered(c, *c.Spec.PingTime)
}

// silent reports whether a candidate has left a ping unanswered for so long that the
// coordinator stops waiting for it. A slow candidate counts again once it answers.
func silent(c *Candidate, now time.Time) bool {
	return Owes(c) && now.Sub(c.Spec.PingTime.Time) >= AnswerWindow
}

// PingTime is what a ping writes. It is always later than the last renewal, so
// that a candidate whose clock is ahead has not answered before it was asked.
func PingTime(c *Candidate, now time.Time) metav1.MicroTime {
	ping := now.Truncate(time.Microsecond)
	if renewed := c.Spec.RenewTime; renewed != nil && !ping.After(renewed.Time) {
		ping = renewed.Time.Add(time.Microsecond)
	}
	return metav1.NewMicroTime(ping)
}

// RenewTime is what a renewal writes. It is never before the ping, so that a
// candidate whose clock is behind can answer.
func RenewTime(c *Candidate, now time.Time) metav1.MicroTime {
	renewed := now.Truncate(time.Microsecond)
	if ping := c.Spec.PingTime; ping != nil && renewed.Before(ping.Time) {
		renewed = ping.Time
	}
	return metav1.NewMicroTime(renewed)
}

// Declared returns the candidate that an instance declares: like the one that exists, but
// with what the instance is and wants now.
//
// KEP-4355, Story 1 and 2: a component updates its LeaseCandidate with new version
// information, by which the coordinator then elects.
func Declared(existing *Candidate, wanted CandidateSpec) *Candidate {
	next := existing.DeepCopy()
	next.Spec.BinaryVersion, next.Spec.EmulationVersion, next.Spec.Strategy = wanted.BinaryVersion, wanted.EmulationVersion, wanted.Strategy
	return next
}

// Duer is a function that decides as Due does.
type Duer func(c *Candidate, wanted CandidateSpec, now time.Time) time.Duration

// Due is in how much time an instance has to write its candidate again: 0 is now. Without a
// candidate it has to declare one now, also if it had one that another client has deleted.
//
// KEP-4355: a candidate renews every 300 seconds, and answers pings. An object of an earlier
// process with the same name is out of date as soon as it says something else.
func Due(c *Candidate, wanted CandidateSpec, now time.Time) time.Duration {
	if c == nil {
		return 0
	}
	is := c.Spec
	switch {
	case is.RenewTime == nil, Owes(c):
		return 0
	case is.BinaryVersion != wanted.BinaryVersion, is.EmulationVersion != wanted.EmulationVersion, is.Strategy != wanted.Strategy:
		return 0
	}
	return max(is.RenewTime.Add(CandidateRenewal).Sub(now), 0)
}
