package election

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Live reports whether a candidate counts.
//
// KEP-4355: a candidate that has expired is not available for leadership. One whose last
// renewal is as far in the future says just as little of whether it is there, and would
// go on to for as long as that.
func Live(c *Candidate, now time.Time, d defects.Set) bool {
	if d.Has(defects.CLE16ElectsTheDead) {
		return true // defect: CLE-16-elects-the-dead
	}
	return c.Spec.RenewTime != nil && now.Sub(c.Spec.RenewTime.Time).Abs() < CandidateValidity
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
