// Package migration judges KEP-25 by scenarios in which objects are migrated while
// users write, members are replaced, and servers and controllers crash.
package migration

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("migration-custom.yaml")
	_ = play.Scenario("migration-custom-upgrade.yaml")
	_ = play.Scenario("migration-hopeless.yaml")
	_ = play.Scenario("migration-unreadable.yaml")
	_ = play.Scenario("migration-automatic.yaml")
	_ = play.Scenario("migration-aggregated.yaml")
	_ = play.Scenario("migration.yaml")
	_ = play.Scenario("migration-abort.yaml")
	_ = play.Scenario("migration-agreed.yaml")
	_ = play.Scenario("migration-crash.yaml")
	_ = play.Scenario("migration-errors.yaml")
	_ = play.Scenario("migration-large.yaml")
	_ = play.Scenario("migration-namespace.yaml")
	_ = play.Scenario("migration-refused.yaml")
	_ = play.Scenario("migration-restart.yaml")
	_ = play.Scenario("migration-resume.yaml")
	_ = play.Scenario("migration-compacted.yaml")
	_ = play.Scenario("migration-rollback.yaml")
	_ = play.Scenario("migration-takeover.yaml")
	_ = play.Scenario("migration-undefined.yaml")
	_ = play.Scenario("migration-leftovers.yaml")
)
