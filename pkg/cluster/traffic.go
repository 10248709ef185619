package cluster

import "fmt"

// TrafficLeave is the leave to write objects of Evenkeel's own to an external cluster while a
// run is played, and how many requests that may take.
type TrafficLeave struct {
	// RequestsPerSecond is how many requests a second the traffic and the probes of a run send at
	// most, all members together; 0 means UsualRequestsPerSecond.
	RequestsPerSecond float64 `yaml:"requestsPerSecond,omitempty"`
	// Budget is how many requests they send at most in a run; 0 means UsualTrafficBudget.
	Budget int64 `yaml:"budget,omitempty"`
	// ControlPlane is the leave to change objects of the control plane as well: Leases of
	// elections, StorageVersions, and migrations, which write every object of a resource again.
	ControlPlane bool `yaml:"controlPlane,omitempty"`
}

const (
	// UsualRequestsPerSecond is what a cluster of three members bears beside its users: a run
	// with the workloads of the fixtures sends 60 requests a second to them.
	UsualRequestsPerSecond = 100.0
	// MostRequestsPerSecond bounds what a topology may allow.
	MostRequestsPerSecond = 1000.0
	// UsualTrafficBudget is twice what the longest scenario sends at the usual rate.
	UsualTrafficBudget = 200_000
	// MostTrafficBudget bounds what a topology may allow.
	MostTrafficBudget = 100_000_000
)

// Rate is RequestsPerSecond, or the usual one.
func (l TrafficLeave) Rate() float64 {
	if l.RequestsPerSecond == 0 {
		return UsualRequestsPerSecond
	}
	return l.RequestsPerSecond
}

// Requests is Budget, or the usual one.
func (l TrafficLeave) Requests() int64 {
	if l.Budget == 0 {
		return UsualTrafficBudget
	}
	return l.Budget
}

func (l TrafficLeave) problems() (wrong []string) {
	if l.RequestsPerSecond < 0 || l.RequestsPerSecond > MostRequestsPerSecond {
		wrong = append(wrong, fmt.Sprintf("spec.external.traffic.requestsPerSecond %v is not between 0 and %v", l.RequestsPerSecond, MostRequestsPerSecond))
	}
	if l.Budget < 0 || l.Budget > MostTrafficBudget {
		wrong = append(wrong, fmt.Sprintf("spec.external.traffic.budget %d is not between 0 and %d", l.Budget, MostTrafficBudget))
	}
	return wrong
}
