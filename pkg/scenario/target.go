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
	case "", cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler:
	default:
		err = errors.Join(err, fmt.Errorf("there is no component %q", s.Component))
	}
	return err
}
func (s *Target) selectors() []string { return []string{s.Member} }

func (s *Target) restarts(*Scenario) bool {
	return s.Component == "" || s.Component == string(cluster.APIServer)
}

func (s *Target) impossible(_ *Scenario, c cluster.ExternallyManaged) string {
	if s.Component != "" && s.Component != string(cluster.APIServer) {
		return unseen
	}
	return c.Lacks(cluster.HookStop)
}
