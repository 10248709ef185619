package scenario

import (
	"testing"
	"time"
)

func TestForeignAPIService_RefusesWhatCannotBeForeign(t *testing.T) {
	for name, tc := range map[string]struct {
		step  ForeignAPIService
		valid bool
	}{
		"flaps":                    {ForeignAPIService{Group: "weather.example.com", Server: serverFlaps, Period: time.Second}, true},
		"missing":                  {ForeignAPIService{Group: "weather.example.com", Server: serverMissing}, true},
		"remove":                   {ForeignAPIService{Group: "weather.example.com", Remove: true}, true},
		"a group of Evenkeel":      {ForeignAPIService{Group: "weather.evenkeel.dev", Server: serverMissing}, false},
		"a group without a dot":    {ForeignAPIService{Group: "weather", Server: serverMissing}, false},
		"flaps without a period":   {ForeignAPIService{Group: "weather.example.com", Server: serverFlaps}, false},
		"missing with a period":    {ForeignAPIService{Group: "weather.example.com", Server: serverMissing, Period: time.Second}, false},
		"an unknown server":        {ForeignAPIService{Group: "weather.example.com", Server: "sings"}, false},
		"a server to be removed":   {ForeignAPIService{Group: "weather.example.com", Server: serverMissing, Remove: true}, false},
		"neither made nor removed": {ForeignAPIService{Group: "weather.example.com"}, false},
	} {
		if err := tc.step.validate(); (err == nil) != tc.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
