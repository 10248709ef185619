package scenario

import (
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// triggerKeys are keys that API servers write while a scenario is played.
var triggerKeys = registry.AnyText(
	electedKeys+"kube-controller-manager", electedKeys+"kube-scheduler", electedKeys+"leader-election-controller",
	keysPrefix+"leasecandidates/", keysPrefix+"storageversions/", keysPrefix+"storageversionmigrations/",
	keysPrefix+"apiextensions.k8s.io/customresourcedefinitions/", keysPrefix+"apiregistration.k8s.io/apiservices/",
)

// whenFields are the domains of a Trigger.
var whenFields = registry.Fields{
	"write": registry.Fields{
		"key": triggerKeys, "by": registry.OneOf(byCoordinator, byHolder, byHarness), "deleted": registry.Flag(),
		"count": registry.Count(1, 1000, 2, 3, 5, 12), "revision": registry.Count(1, 1_000_000, 1, 300, 1000, 3000),
	}.Of(reflect.TypeFor[WriteTrigger]()).In("write"),
	"elected": leaseName.In("elected"),
	"exists":  triggerKeys.In("exists"),
	"migrated": registry.Fields{"migration": registry.Known(namesMigration), "share": registry.Percent("10%", "50%", "90%")}.
		Of(reflect.TypeFor[MigratedTrigger]()).In("migrated"),
	"member": registry.Fields{
		"name":      registry.AnyText("@cp1", "@cp2", "@cp3"),
		"component": registry.OneOf(cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler),
		"phase":     registry.OneOf(history.ProcessStarted, history.ProcessStopping, history.ProcessExited, history.ProcessPaused, phaseReady, phaseUnready),
	}.Of(reflect.TypeFor[MemberTrigger]()).In("member"),
	"within":   registry.Between(time.Second, longestTimeout, 15*time.Second),
	"optional": registry.Flag(),
}

// WhenParameters are those of what a step can wait for, each state a variant of its own.
func WhenParameters() ([]registry.Parameter, error) {
	return whenFields.Parameters(reflect.TypeFor[Trigger]())
}

// NewTrigger makes what a step waits for from values. The error is that of its validation.
func NewTrigger(values registry.Values) (*Trigger, error) {
	raw, err := yaml.Marshal(values.Plain())
	if err != nil {
		return nil, err
	}
	when := &Trigger{}
	if err := yaml.Unmarshal(raw, when); err != nil {
		return nil, err
	}
	return when, when.validate()
}
