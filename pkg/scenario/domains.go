package scenario

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// What steps give names to.
const (
	namesHold               = "hold"
	namesPopulation         = "population"
	namesSeparatePopulation = "population with a namespace of its own"
	namesMigration          = "migration"
	namesBackend            = "backend"
	namesSimulatedServer    = "simulated server"
)

// Bounds of domains.
const (
	longestTimeout  = 2 * time.Hour
	longestHold     = 30 * time.Minute
	longestOutage   = 2 * time.Minute
	shortestOutage  = 100 * time.Millisecond
	mostNames       = 12
	mostCandidates  = 10
	mostLeases      = 20
	mostInOneOutage = 3
)

// Domains that the fields of several steps have.
var (
	oneMember       = registry.OneMember()
	someMembers     = registry.SomeMembers()
	memberList      = registry.SomeMembers().List(1, 5)
	faultFiles      = registry.AFault().List(0, mostInOneOutage)
	workloads       = registry.AWorkload().List(1, 3)
	leaseName       = registry.AnyText("kube-controller-manager", "kube-scheduler", "leader-election-controller")
	stored          = registry.AnyText("core.configmaps", "core.secrets", "core.namespaces", "coordination.k8s.io.leases", "ghosts.evenkeel.dev.ships").List(0, mostNames)
	untilShare      = registry.Percent("1%", "10%", "50%", "90%")
	released        = registry.OneRelease("@next", "@previous", "@start", "@start+1", "@start+2", "@oldest", "@newest")
	emulatedVersion = registry.OneRelease("@start", "@start+1", "@previous").With(cluster.Emulates)
	// outage is how long something is down or disturbed: shorter than any timeout, as long as
	// a Lease of the default timing, and longer.
	outage = registry.Between(shortestOutage, longestOutage,
		shortestOutage, time.Second, 5*time.Second, 16*time.Second, 40*time.Second)
	features = registry.OneOf(cluster.Features...).List(0, len(cluster.Features)).With(cluster.SwitchesFeatures)

	strikeFields = registry.Fields{"fault": registry.AFault(), "member": someMembers}
	targetFields = registry.Fields{
		"member":    someMembers,
		"component": registry.OneOf(cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler),
	}
	replaceFields = registry.Fields{
		"member": someMembers, "to": released, "withFaults": faultFiles, "disabledFeatures": features, "emulate": emulatedVersion,
	}
	emulateFields = registry.Fields{"members": memberList, "version": emulatedVersion, "compatible": emulatedVersion, "withFaults": faultFiles}
)
