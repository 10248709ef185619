// Package storageversion judges KEP-2339 by short scenarios, each for a few
// requirements.
package storageversion

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("quick.yaml")
	_ = play.Scenario("boot-together.yaml")
	_ = play.Scenario("restart-same.yaml")
	_ = play.Scenario("restart-skew.yaml")
	_ = play.Scenario("crash-under-writes.yaml")
	_ = play.Scenario("node-faults.yaml")
	_ = play.Scenario("upgrade-and-back.yaml")
	_ = play.Scenario("registration.yaml")
	_ = play.Scenario("joined-silent.yaml")
	_ = play.Scenario("conflict-storm.yaml")
	_ = play.Scenario("custom-flip.yaml")
	_ = play.Scenario("gates.yaml")
	_ = play.Scenario("aggregated.yaml")
	_ = play.Scenario("departed.yaml")
	_ = play.Scenario("departed-silent.yaml")
	_ = play.Scenario("collector-off.yaml")
	_ = play.Scenario("collector-slow.yaml")
	_ = play.Scenario("collector-blind.yaml")
	_ = play.Scenario("storage-version-soak.yaml")
)
