// Package leaderelection judges KEP-4355 by scenarios in which the coordinator elects and
// replaces leaders.
package leaderelection

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("election-quick.yaml")
	_ = play.Scenario("election-odd.yaml")
	_ = play.Scenario("election-rollout.yaml")
	_ = play.Scenario("election-faults.yaml")
	_ = play.Scenario("election-denied.yaml")
	_ = play.Scenario("election-coordinator.yaml")
	_ = play.Scenario("election-uncoordinated.yaml")
	_ = play.Scenario("election-withdrawn.yaml")
	_ = play.Scenario("election-deleted.yaml")
	_ = play.Scenario("election-fallback.yaml")
	_ = play.Scenario("election-strangers.yaml")
	_ = play.Scenario("election-strategy.yaml")
	_ = play.Scenario("election-mixed.yaml")
	_ = play.Scenario("election-release.yaml")
	_ = play.Scenario("election-soak.yaml")
	_ = play.Scenario("election-storm.yaml")
)
