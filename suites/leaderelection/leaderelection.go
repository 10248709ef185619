// Package leaderelection judges KEP-4355 by scenarios in which leaders are elected,
// handed over, crashed, frozen and kept from writing, and members are replaced.
package leaderelection

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("election-quick.yaml")
	_ = play.Scenario("election-coordinator.yaml")
	_ = play.Scenario("election-steady.yaml")
	_ = play.Scenario("election-faults.yaml")
	_ = play.Scenario("election-uncoordinated.yaml")
	_ = play.Scenario("election-upgrade.yaml")
	_ = play.Scenario("election-soak.yaml")
)
