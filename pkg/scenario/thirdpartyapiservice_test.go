package scenario

import (
	"testing"
	"time"
)

func TestForeignAPIService_RefusesWhatCannotBeForeign(t *testing.T) {
	for name, tc := range map[string]struct {
		step  ThirdPartyAPIService
		valid bool
	}{
		"flaps":                    {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Server: serverFlapping, Period: time.Second}, true},
		"missing":                  {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Server: serverMissing}, true},
		"remove":                   {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Remove: true}, true},
		"a group of Evenkeel":      {ThirdPartyAPIService{Member: "cp1", Group: "weather.evenkeel.dev", Server: serverMissing}, false},
		"a group without a dot":    {ThirdPartyAPIService{Member: "cp1", Group: "weather", Server: serverMissing}, false},
		"flaps without a period":   {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Server: serverFlapping}, false},
		"missing with a period":    {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Server: serverMissing, Period: time.Second}, false},
		"an unknown server":        {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Server: "sings"}, false},
		"a server to be removed":   {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com", Server: serverMissing, Remove: true}, false},
		"neither made nor removed": {ThirdPartyAPIService{Member: "cp1", Group: "weather.example.com"}, false},
	} {
		if err := tc.step.validate(); (err == nil) != tc.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
