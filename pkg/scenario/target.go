package scenario

import (
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Target is a component, or with none named all of a member's.
type Target struct {
	Member    string `yaml:"member"`
	Component string `yaml:"component,omitempty"`
}

func (s *Target) validate() error {
	err := missing("member", s.Member)
	switch cluster.Component(s.Component) {
	case "", cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler, cluster.AggregatedServer:
	default:
		err = errors.Join(err, fmt.Errorf("there is no component %q", s.Component))
	}
	return err
}
func (s *Target) selectors() []string { return []string{s.Member} }

func (s *Target) restarts(*Scenario) bool {
	return s.Component == "" || s.Component == string(cluster.APIServer)
}

// requires are the means to stop and start what is named: all of a member, or one component.
func (s *Target) requires() []cluster.Ability {
	if s.Component != "" && s.Component != string(cluster.APIServer) {
		return []cluster.Ability{cluster.SeesProcesses}
	}
	if s.Component != "" {
		return []cluster.Ability{cluster.StopsComponents}
	}
	return []cluster.Ability{cluster.Stops}
}
