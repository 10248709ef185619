// Package upgrade is the main job as specs: the control plane is upgraded,
// rolled back and crashed member by member, and everything is judged.
package upgrade

import "github.com/evenkeel/evenkeel/suites/play"

var _ = play.Scenario("upgrade-rollback-crash.yaml")
