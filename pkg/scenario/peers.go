package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ofPeers are the requirements that can be judged where API servers tell of what
// only the others host. All others take what a server lists for what it hosts.
var ofPeers = []string{"AD-23", "AD-24"}

// JudgedWithPeers are the requirements that a scenario with discovery.peers can judge.
func JudgedWithPeers() []string { return slices.Clone(ofPeers) }

// validate says what is wrong with a Discovery in a scenario that judges these.
func (d *Discovery) validate(judges []string) error {
	if !d.Peers {
		return nil
	}
	if !d.Record {
		return errors.New("discovery.peers needs discovery.record: nothing else shows what servers tell of their peers")
	}
	for _, id := range judges {
		if !slices.Contains(ofPeers, id) {
			return fmt.Errorf("with discovery.peers a scenario can judge %s only: %s takes what a server lists for what it hosts itself", strings.Join(ofPeers, " and "), id)
		}
	}
	return nil
}
