// Package upgrade is the main job as specs: the control plane is upgraded,
// rolled back and crashed member by member, and everything is judged; quickly,
// and once more over the whole way up, back and up again.
package upgrade

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("upgrade-rollback-crash.yaml")
	_ = play.Scenario("rolling-upgrade.yaml")
)
