// Package discovery judges KEP-3352 and KEP-4020 by scenarios in which custom resources,
// aggregated servers and members come, go and fail.
package discovery

import "github.com/evenkeel/evenkeel/suites/play"

var (
	_ = play.Scenario("discovery-quick.yaml")
	_ = play.Scenario("discovery.yaml")
	_ = play.Scenario("discovery-backends.yaml")
	_ = play.Scenario("discovery-foreign.yaml")
	_ = play.Scenario("discovery-outage.yaml")
	_ = play.Scenario("discovery-unaggregated.yaml")
	_ = play.Scenario("discovery-updated.yaml")
	_ = play.Scenario("discovery-upgrade.yaml")
	_ = play.Scenario("discovery-forward.yaml")
	_ = play.Scenario("discovery-peers.yaml")
	_ = play.Scenario("discovery-churn.yaml")
	_ = play.Scenario("compacted.yaml")
	_ = play.Scenario("discovery-gates.yaml")
)
