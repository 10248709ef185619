package metrics

import _ "embed" // the dashboard is a file of its own, as Grafana writes it

// Dashboard is a Grafana dashboard of the metrics, in Grafana's JSON model. Which
// Prometheus it reads from is chosen at the top of the page.
//
//go:embed dashboard.json
var Dashboard []byte
