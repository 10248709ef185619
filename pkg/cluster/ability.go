package cluster

// Ability is something that a step, a fault or a setting needs of a cluster, and that not every
// provider, distribution or external cluster has. What needs one asks for the ability, and never
// for the provider's name. A new ability is one value, next to what needs it.
type Ability struct {
	// Name as messages and references have it, such as "network faults".
	Name string
	// Common is whether every cluster has it that the harness runs itself. Lists of what something
	// needs leave it out.
	Common bool
	// Lack says in half a sentence why the cluster does not have it; empty where it does.
	Lack func(Cluster) string
}

// Lacking says in half a sentence why a cluster does not have all of the abilities; empty where
// it does.
func Lacking(c Cluster, needs ...Ability) string {
	for _, need := range needs {
		if why := need.Lack(c); why != "" {
			return why
		}
	}
	return ""
}

// managed is an ability of every cluster that the harness runs itself, and of an external one
// that gives the means.
func managed(name string, common bool, means Means) Ability {
	return Ability{Name: name, Common: common, Lack: func(c Cluster) string {
		if external, ok := c.(ExternallyManaged); ok {
			return external.Lacks(means)
		}
		return ""
	}}
}

// implementing is an ability of a cluster that implements T.
func implementing[T any](name, lack string) Ability {
	return Ability{Name: name, Lack: func(c Cluster) string {
		if _, ok := c.(T); !ok {
			return lack
		}
		return ""
	}}
}

// The abilities that steps and faults need.
var (
	Kills           = managed("killed processes", true, HookKill)
	Pauses          = managed("frozen processes", true, HookPause)
	Stops           = managed("stopped members", true, HookStop)
	StopsComponents = managed("stopped components", true, MeansStopComponent)
	CutsOff         = managed("network faults", false, HookCutOff)
	CutsPower       = managed("power cycles", false, HookPowerOff)
	Upgrades        = managed("several releases", false, HookUpgrade)
	RollsBack       = managed("several releases", false, HookRollback)
	ReachesHere     = managed("aggregated servers", false, MeansAddress)
	// WritesObjects is the ability to have objects of the harness written to it, and
	// ChangesControlPlane that to have objects of the control plane changed.
	WritesObjects       = managed("objects of the harness", true, MeansTraffic)
	ChangesControlPlane = managed("objects of the control plane that may be changed", true, MeansControlPlane)
	ReadsEtcd           = managed("access to etcd", true, MeansEtcd)
	FaultsKeys          = implementing[EtcdKeyFaultInjector]("faults of etcd keys", "the provider's links cannot tell requests to etcd apart by their keys")
	FaultsHTTP          = implementing[HTTPFaultInjector]("faults of HTTP requests", "the provider's links do not understand HTTP")
	SwitchesFeatures    = implementing[FeatureSwitcher]("feature switches", "the provider cannot switch features off")
)

// RestartsAtReleases is the ability to restart members at another release than their own.
var RestartsAtReleases = ownOnly("several releases", false, "members of an external cluster are restarted at their own release only")

// Emulates is the ability to start binaries so that they emulate an older version (KEP-4330).
var Emulates = ownOnly("emulated versions", false, "the flags of an external cluster's components are not Evenkeel's to set")

// ShapesLinks is the ability to cut and delay single links of a member.
var ShapesLinks = ownOnly("network faults", false, "only whole members of an external cluster can be cut off, and no single link")

// HostsAggregated is the ability of members that run aggregated API servers.
var HostsAggregated = Ability{Name: "aggregated servers of its own", Lack: func(c Cluster) string {
	if host, ok := c.(AggregatedHost); ok {
		if _, ok := host.Aggregated(); ok {
			return ""
		}
	}
	return "its members run no aggregated servers that store objects"
}}

// SeesProcesses is the ability to see the processes of all components.
var SeesProcesses = managed("processes that can be seen", true, MeansProcesses)

// ownOnly is an ability of every cluster that the harness runs itself.
func ownOnly(name string, common bool, lack string) Ability {
	return Ability{Name: name, Common: common, Lack: func(c Cluster) string {
		if _, ok := c.(ExternallyManaged); ok {
			return lack
		}
		return ""
	}}
}

// DeniesWrites is the ability of API servers that know ValidatingAdmissionPolicies.
var DeniesWrites = Ability{Name: "admission policies", Lack: func(c Cluster) string {
	if external, ok := c.(ExternallyManaged); ok {
		return external.Lacks(MeansPolicies)
	}
	if policed, ok := c.(AdmissionPolicySupporter); !ok || !policed.SupportsAdmissionPolicies() {
		return "its API servers do not know ValidatingAdmissionPolicies"
	}
	return ""
}}

// LeavesToChaosMesh is the ability of a cluster in which Chaos Mesh injects faults.
var LeavesToChaosMesh = Ability{Name: "Chaos Mesh", Lack: func(c Cluster) string {
	if !LeavesFaults(c) {
		return "only Chaos Mesh has such a fault, and the topology leaves none to it (spec.external.faults)"
	}
	return ""
}}

// OrChaosMesh is the ability as a fault needs it that Chaos Mesh injects where faults are left to it:
// there it is needed no more.
func (a Ability) OrChaosMesh() Ability {
	own := a.Lack
	a.Lack = func(c Cluster) string {
		if LeavesFaults(c) {
			return ""
		}
		return own(c)
	}
	return a
}

// ByChaosMesh is an ability that a fault needs only where Chaos Mesh injects it.
func (a Ability) ByChaosMesh() Ability {
	own := a.Lack
	a.Common = true // no list of what clusters need has it
	a.Lack = func(c Cluster) string {
		if !LeavesFaults(c) {
			return ""
		}
		return own(c)
	}
	return a
}
