package migration

import "time"

// How the pace changes.
const (
	// onThrottle is what is left of the rate when a server says that it has too
	// much to do.
	onThrottle = 0.5
	// onDelay is what is left of it when answers take longer than usual; that is
	// a weaker sign, which comes with every answer.
	onDelay = 0.9
	// recovery is the share of the highest rate that comes back with every answer
	// in good time.
	recovery = 0.02
	// recentWeight and usualWeight are how much one answer counts in the latency
	// of late and in the usual one.
	recentWeight = 0.2
	usualWeight  = 0.01
	// delayed is how many times the usual latency, beyond latencyNoise, calls for
	// slowing down.
	delayed = 2
	// latencyNoise is a difference that says nothing about load.
	latencyNoise = 20 * time.Millisecond
)

// Pace is how fast objects are written. It goes down quickly when the servers
// show signs of load, and up slowly.
//
// KEP-25: a migration only causes insignificant load.
type Pace struct {
	// Rate is in writes a second, between Least and Most.
	Rate        float64
	Least, Most float64
	// Recent and Usual are smoothed latencies; 0 before the first answer.
	Recent, Usual time.Duration
}

// NewPace begins at the highest rate.
func NewPace(most float64) Pace {
	return Pace{Rate: most, Most: most, Least: min(LeastRate, most)}
}

// Sample is one answer of a server.
type Sample struct {
	Latency time.Duration
	// Throttled: the server said that it has too much to do (429), or was not able
	// to answer.
	Throttled bool
}

// After is the pace after an answer.
func (p Pace) After(s Sample) Pace {
	if s.Throttled {
		// How soon a server refuses says nothing about how long it works.
		p.Rate = max(p.Least, p.Rate*onThrottle)
		return p
	}
	if p.Usual == 0 {
		p.Recent, p.Usual = s.Latency, s.Latency
	}
	p.Recent = smooth(p.Recent, s.Latency, recentWeight)
	p.Usual = smooth(p.Usual, s.Latency, usualWeight)
	if p.Recent > delayed*p.Usual+latencyNoise {
		p.Rate = max(p.Least, p.Rate*onDelay)
	} else {
		p.Rate = min(p.Most, p.Rate+p.Most*recovery)
	}
	return p
}

// Interval is the time from one write to the next.
func (p Pace) Interval() time.Duration {
	return time.Duration(float64(time.Second) / p.Rate)
}

func smooth(old, sample time.Duration, weight float64) time.Duration {
	return old + time.Duration(weight*float64(sample-old))
}
