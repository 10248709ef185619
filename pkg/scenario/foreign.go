package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
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
	foreign, ok := c.(cluster.ExternallyManaged)
	if !ok {
		return nil
	}
	out := map[int]string{}
	for i := range s.Steps {
		if why := s.impossible(foreign, s.Steps[i].Action); why != "" {
			out[i+1] = why
		}
	}
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
	var lacks []history.Lack
	if why := foreign.Lacks(cluster.MeansEtcd); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackEtcd, Reason: why})
	}
	if why := foreign.Lacks(cluster.MeansAddress); why != "" {
		lacks = append(lacks, history.Lack{What: history.LackBackends, Reason: why})
	}
	if !probed {
		lacks = append(lacks, history.Lack{What: history.LackProbes, Reason: "nothing that servers must refuse is sent to them without --allow-disruption"})
	}
	var missing []string
	played := false
	for i := range s.Steps {
		if one, ok := s.Steps[i].Action.(restarting); !ok || !one.restarts(s) {
			continue
		}
		if why, left := leftOut[i+1]; left {
			missing = append(missing, fmt.Sprintf("step %d (%s) was left out, for %s", i+1, s.Steps[i].Name(), why))
		} else {
			played = true
		}
	}
	if len(missing) > 0 && !played {
		lacks = append(lacks, history.Lack{What: history.LackRestarts, Reason: strings.Join(missing, "; ")})
	}
	return lacks
}

// endsServers is whether a fault ends an API server.
func (s *Scenario) endsServers(name string) bool {
	f := s.Faults[name]
	return f != nil && f.Crashes() && slices.Contains(f.Components, cluster.APIServer)
}

// impossible says why a step cannot be played; empty if it can.
func (s *Scenario) impossible(c cluster.ExternallyManaged, a Action) string {
	if one, ok := a.(external); ok {
		return one.impossible(s, c)
	}
	return "it changes objects that are not the harness's own, which it does not do to an external cluster"
}

// waitsForLeftOut is why a step is not played that waits for a step that is left out.
const waitsForLeftOut = "it waits for a step that is left out"

// unseen is why other components than API servers are not operated.
const unseen = "only of an API server it shows that it was hit"

// remote is why an aggregated server cannot be had; empty if none is asked for.
func remote(c cluster.ExternallyManaged, backend string) string {
	if backend == "" {
		return ""
	}
	return c.Lacks(cluster.MeansAddress)
}

// replaced is why members cannot be replaced or restarted as a step says.
func (s *Scenario) replaced(c cluster.ExternallyManaged, with []string, off []cluster.Feature, hook cluster.Means) string {
	if len(off) > 0 {
		return "disabledFeatures is not supported with the provider external"
	}
	if why := c.Lacks(hook); why != "" {
		return why
	}
	for _, name := range with {
		if why := s.unstruck(c, name); why != "" {
			return why
		}
	}
	return ""
}

// unstruck is why a fault cannot be injected.
func (s *Scenario) unstruck(c cluster.ExternallyManaged, name string) string {
	f := s.Faults[name]
	if f == nil {
		return "" // which is another error
	}
	whole := slices.Contains(f.Components, cluster.Whole)
	visible := whole || !slices.ContainsFunc(f.Components, func(one cluster.Component) bool { return one != cluster.APIServer })
	switch {
	case f.Type == fault.TypeKeys, f.Type == fault.TypeHTTP:
		return fmt.Sprintf("the fault %s hits single requests, which pass no link of the harness", name)
	case f.Type == fault.TypeAdmission:
		return c.Lacks(cluster.MeansPolicies)
	case f.Type == fault.TypeNetwork:
		if f.Link != cluster.LinkNode || f.Shape != (cluster.Shape{Cut: true}) {
			return fmt.Sprintf("the fault %s is of a link, and only whole members can be cut off", name)
		}
		return c.Lacks(cluster.HookCutOff)
	case !visible:
		return unseen
	case f.Pauses():
		return c.Lacks(cluster.HookPause)
	case whole:
		return unseen
	}
	return c.Lacks(cluster.HookKill)
}

// leaveOut is whether a step is not to be played, which is recorded.
func (r *Runner) leaveOut(index int) bool {
	why, left := r.LeaveOut[index]
	if left {
		r.report(index, r.Scenario.Steps[index-1].Name(), "", "", history.PhaseSkipped, why)
	}
	return left
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

// NeedsPolicies is whether it has API servers deny writes by policies.
func (s *Scenario) NeedsPolicies() bool {
	for _, f := range s.Faults {
		if f.Type == fault.TypeAdmission {
			return true
		}
	}
	return false
}
