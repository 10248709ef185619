package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// ownDomain is the domain of the groups that a run may define in an external cluster.
const ownDomain = ".evenkeel.dev"

// Disrupts returns the first step, counted from 1, that does more to a control plane than
// read it and define groups of the harness's own; ok is false if there is none.
func (s *Scenario) Disrupts() (step int, action string, ok bool) {
	for i := range s.Steps {
		if one, ok := s.Steps[i].Action.(observing); !ok || !one.harmless() {
			return i + 1, s.Steps[i].Name(), true
		}
	}
	return 0, "", false
}

// LeaveOut returns the steps, counted from 1, that cannot be played on an external cluster,
// and why not. It is empty for a cluster that the harness runs itself: a step that cannot be
// played there is an error.
func (s *Scenario) LeaveOut(c cluster.Cluster) map[int]string {
	if _, ok := c.(cluster.ExternallyManaged); !ok {
		return nil
	}
	out := map[int]string{}
	for i := range s.Steps {
		if why := s.lackOf(c, s.Steps[i].Action); why != "" {
			out[i+1] = why
		}
	}
	var members []string
	start := map[string]string{}
	for _, member := range c.Members() {
		members = append(members, member.Name)
		start[member.Name] = c.Release(member.Name)
	}
	s.lackReleases(members, start, c.Releases(), out)
	return out
}

// Lacks are what judging a requirement may take and such a run of the scenario does not
// have, given the steps that are left out, and whether servers are sent what they must
// refuse.
func (s *Scenario) Lacks(c cluster.Cluster, leftOut map[int]string, probed bool) []history.Lack {
	foreign, ok := c.(cluster.ExternallyManaged)
	if !ok {
		return nil
	}
	lacks := []history.Lack{{What: history.LackEarlier, Reason: "an external cluster runs before Evenkeel records it"}}
	if why := foreign.Lacks(cluster.MeansProcesses); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackProcesses, Reason: why})
	}
	if why := foreign.Lacks(cluster.MeansEtcd); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackEtcd, Reason: why})
	}
	if why := foreign.Lacks(cluster.MeansAddress); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackBackends, Reason: why})
	}
	if why := foreign.Lacks(cluster.MeansTraffic); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackTraffic, Reason: why})
	}
	if why := foreign.Lacks(cluster.MeansPeerDiscovery); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackPeers, Reason: why})
	}
	lacks = append(lacks, history.Lack{What: history.LackEmulation, Reason: "the flags of an external cluster's components are not Evenkeel's to set"},
		history.Lack{What: history.LackFeatures, Reason: "the features of an external cluster's components are not Evenkeel's to switch"})
	if balanced, ok := c.(cluster.LoadBalanced); !ok || !balances(balanced) {
		lacks = append(lacks, history.Lack{What: history.LackBalancer, Reason: "the topology names none (spec.external.balancer)"})
	}
	if !probed {
		lacks = append(lacks, history.Lack{What: history.LackProbes, Reason: "nothing that servers must refuse is sent to them without --allow-disruption"})
	}
	if missing, played := s.missingRestarts(leftOut); missing != "" && !played {
		lacks = append(lacks, history.Lack{What: history.LackRestarts, Reason: missing})
	}
	return append(lacks, history.Lack{What: history.LackMachines, Reason: "Evenkeel does not see the machines of an external cluster, so that nothing tells whether they were starved"})
}

func balances(c cluster.LoadBalanced) bool {
	_, ok := c.BalancerConfig()
	return ok
}

// missingRestarts says which steps that restart an API server are left out, and why, each
// reason once; played is whether another such step is played.
func (s *Scenario) missingRestarts(leftOut map[int]string) (missing string, played bool) {
	var reasons []string
	steps := map[string][]string{}
	for i := range s.Steps {
		if one, ok := s.Steps[i].Action.(restarting); !ok || !one.restarts(s) {
			continue
		}
		why, left := leftOut[i+1]
		if !left {
			played = true
			continue
		}
		if steps[why] == nil {
			reasons = append(reasons, why)
		}
		steps[why] = append(steps[why], fmt.Sprintf("%d (%s)", i+1, s.Steps[i].Name()))
	}
	var sentences []string
	for _, why := range reasons {
		left := "step " + steps[why][0] + " was"
		if last := len(steps[why]) - 1; last > 0 {
			left = fmt.Sprintf("steps %s and %s were", strings.Join(steps[why][:last], ", "), steps[why][last])
		}
		sentences = append(sentences, fmt.Sprintf("%s left out, since %s", left, why))
	}
	return strings.Join(sentences, "; "), played
}

// endsServers is whether a fault ends an API server.
func (s *Scenario) endsServers(name string) bool {
	f := s.Faults[name]
	return f != nil && f.Crashes() && slices.Contains(f.Components, cluster.APIServer)
}

// leaveOut is whether a step is not to be played, which is recorded.
func (r *Runner) leaveOut(index int) bool {
	why, left := r.LeaveOut[index]
	if left {
		r.report(index, r.Scenario.Steps[index-1].Name(), "", "", history.PhaseSkipped, why)
		return true
	}
	for _, name := range faultsOf(r.Scenario.Steps[index-1].Action) {
		if why := r.Scenario.lackOfFault(r.cluster, name); why != "" {
			r.report(index, actionInject, "", "", history.PhaseSkipped, why+"; the step is played without it")
		}
	}
	return false
}

// lacks returns why an external cluster does not give the means.
func (r *Runner) lacks(means cluster.Means) string {
	if r.foreign == nil {
		return ""
	}
	return r.foreign.Lacks(means)
}

// ownsGroup refuses to define a group in an external cluster that its users may own.
func (r *Runner) ownsGroup(group string) error {
	if r.foreign == nil {
		return nil
	}
	if group != "" && !strings.HasSuffix(group, ownDomain) {
		return fmt.Errorf("the group %s may belong to the users of the cluster: in an external cluster only groups below %s are defined", group, strings.TrimPrefix(ownDomain, "."))
	}
	return nil
}
