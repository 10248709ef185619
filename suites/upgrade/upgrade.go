// Package upgrade is the main job as specs: the scenario upgrades, rolls back and crashes
// the control plane member by member, and the specs judge every requirement. There is a
// quick scenario, and one that upgrades, rolls back and upgrades again.
package upgrade

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("upgrade-rollback-crash.yaml")
	_ = play.Scenario("rolling-upgrade.yaml")
	_ = play.Scenario("window-two-steps.yaml")
	_ = play.Scenario("window-skip.yaml")
	_ = play.Scenario("window-leaders.yaml")
	_ = play.Scenario("window-migrations.yaml")
	_ = play.Scenario("window-refused.yaml")
	_ = play.Scenario("window-back.yaml")
	_ = play.Scenario("window-stopped.yaml")
	_ = play.Scenario("window-stopped-uncoordinated.yaml")
)
