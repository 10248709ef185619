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
			told.losesService(c.of).blames(t, "AD-13", c.want...)
		})
	}
}

// losesService has an APIService removed from etcd.
func (t *historyBuilder) losesService(name string) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/apiregistration.k8s.io/apiservices/" + name, Revision: 50})
}

// An APIService goes before the answer to the request comes that deletes its custom resource.
func TestAD13_AnAPIServiceGoesWithItsCustomResource(t *testing.T) {
	told := lone().serves("lamps", 201, "v1").pass(time.Minute)
	from := told.now
	told.losesService("v1."+lights).serves("lamps", 200)
	told.events[len(told.events)-1].From = from
	told.blames(t, "AD-13")
}

// The harness may remove the APIService that it made, and no other one of the group.
func TestAD13_TheHarnessRemovesItsOwnAPIService(t *testing.T) {
	for version, want := range map[string][]string{"v1": nil, "v1beta1": {"the APIService of tides.io/v1beta1 was removed"}} {
		told := lone().hands(201).servesIn(tides, "piers", 201, "v1", "v1beta1").pass(time.Minute)
		told.losesService(version+"."+tides).blames(t, "AD-13", want...)
	}
}
