// Package leaderelection judges KEP-4355 by scenarios in which leaders are elected
// and handed over.
package leaderelection

import "github.com/evenkeel/evenkeel/suites/play"

var _ = play.Scenario("election-quick.yaml")
