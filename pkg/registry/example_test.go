package registry_test

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/registry"
)

// A schedule is composed of values in the domains of the parameters.
func ExampleEntry_Check() {
	entry := registry.Entry{Kind: registry.Step, Name: "hold", Parameters: []registry.Parameter{
		{Name: "name", Domain: registry.Names("hold")},
		{Name: "for", Domain: registry.Between(time.Second, time.Minute, time.Second, 20*time.Second)},
	}}
	for _, length := range append(entry.Parameters[1].Domain.Values, time.Hour) {
		fmt.Println(length, entry.Check(registry.Values{"name": "before", "for": length}))
	}
	// Output:
	// 1s <nil>
	// 20s <nil>
	// 1h0m0s step hold: for: 1h0m0s is no duration from 1s to 1m0s
}
