package check

import "github.com/evenkeel/evenkeel/pkg/requirement"

// lockedIn says of a distribution why a feature has no switch there, so that a requirement
// about the switch speaks of nothing.
var lockedIn = map[string]map[requirement.ID]string{
	"kubernetes": {
		"AD-27": "aggregated discovery graduated in v1.30 (KEP-3352, Implementation History), and no kube-apiserver that Evenkeel runs has a feature gate for it",
	},
}
