package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// The APIService of a custom resource stays as long as that is defined, whichever server starts.
func TestAD13_NoServerRemovesTheAPIServiceOfACustomResource(t *testing.T) {
	for name, c := range map[string]struct {
		told func(*historyBuilder)
		of   string
		want []string
	}{
		"for no reason":            {func(t *historyBuilder) { t.pass(time.Minute) }, "v1." + lights, []string{"the APIService of lights.io/v1 was removed though the CustomResourceDefinition of lamps.lights.io wants it"}},
		"by a server that starts":  {func(t *historyBuilder) { t.pass(time.Minute).stops("a", 1).starts("a", 2) }, "v1." + lights, []string{"the APIService of lights.io/v1 was removed"}},
		"of another version":       {func(t *historyBuilder) { t.pass(time.Minute) }, "v1beta1." + lights, nil},
		"of another group":         {func(t *historyBuilder) { t.pass(time.Minute) }, "v1.apps", nil},
		"before it may be known":   {func(t *historyBuilder) { t.pass(time.Second) }, "v1." + lights, nil},
		"since it is not wanted":   {func(t *historyBuilder) { t.pass(time.Minute).serves("lamps", 200) }, "v1." + lights, nil},
		"since it may be unwanted": {func(t *historyBuilder) { t.pass(time.Minute).serves("lamps", 0) }, "v1." + lights, nil},
		"by a server that was frozen": {func(t *historyBuilder) {
			t.froze("a", history.ProcessPaused).pass(time.Minute).serves("lamps", 200).serves("lamps", 201, "v1").pass(time.Minute).froze("a", history.ProcessResumed)
		}, "v1." + lights, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().serves("lamps", 201, "v1").pass(100*time.Millisecond).polled("a", steady, lights+"/v1:lamps")
			c.told(told)
			told.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/apiregistration.k8s.io/apiservices/" + c.of, Revision: 50})
			told.blames(t, "AD-13", c.want...)
		})
	}
}
