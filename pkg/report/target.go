package report

import (
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Target is the control plane under test.
type Target struct {
	// Provider says how members run, as the topology names it.
	Provider string `json:"provider"`
	// Distribution is what runs, as the topology names it.
	Distribution string `json:"distribution"`
	// Members of the control plane, each with the release at which it began.
	Members []history.MemberHeader `json:"members"`
	// Releases that members began or were started at in the course of the run, in the
	// order in which they came.
	Releases []string `json:"releases"`
	// Gates are the feature gates that members of each of these releases were started
	// with, while no feature was switched off at them: by release and program, in the
	// notation of the flag --feature-gates. Absent where the distribution has none, or
	// the history does not tell.
	Gates map[string]map[string]string `json:"gates,omitempty"`
	// SwitchedOff are the features that processes were started without in the course of the
	// run.
	SwitchedOff []check.FeatureOff `json:"switchedOff,omitempty"`
	// Topology is what the topology sets; absent where the history does not tell.
	Topology *Topology `json:"topology,omitempty"`
}

// Topology is the topology that was played, which is in the bundle as a whole.
type Topology struct {
	// Name of the topology.
	Name string `json:"name"`
	// Digest is the SHA-256 of topology.yaml, in hexadecimal, as it was recorded when
	// the run began.
	Digest string `json:"digest,omitempty"`
	// ReplaceWith is how a member gets another release, where the topology says so.
	ReplaceWith string `json:"replaceWith,omitempty"`
	// Settings of the components that the topology makes, by name, in its own notation;
	// what is not named is as the components have it by default.
	Settings map[string]string `json:"settings,omitempty"`
}

func newTarget(j *check.Judgement) Target {
	h := j.Header
	t := Target{
		Provider: h.Provider, Distribution: h.Distribution, Members: present(h.Members), Releases: present(j.Releases), SwitchedOff: j.Off,
	}
	for _, release := range j.Releases {
		if gates := h.FeatureGates[release]; len(gates) > 0 {
			if t.Gates == nil {
				t.Gates = map[string]map[string]string{}
			}
			t.Gates[release] = gates
		}
	}
	if h.Topology != nil {
		t.Topology = &Topology{
			Name: h.Topology.Name, Digest: h.Files[bundle.TopologyFile], ReplaceWith: h.Topology.ReplaceWith, Settings: h.Topology.Settings,
		}
	}
	return t
}
