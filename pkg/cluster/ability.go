package cluster

// Ability is something that a step, a fault or a setting needs of a cluster, and that not every
// provider, distribution or external cluster has. What needs one asks for the ability, and never
// for the provider's name. A new ability is one value, next to what needs it.
type Ability struct {
	// Name as messages and references have it, such as "network faults".
	Name string
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
func managed(name string, means Means) Ability {
	return Ability{Name: name, Lack: func(c Cluster) string {
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

// The abilities that several steps and faults need.
var (
	Kills            = managed("killed processes", HookKill)
	Pauses           = managed("frozen processes", HookPause)
	CutsOff          = managed("members that are cut off", HookCutOff)
	CutsPower        = managed("power cuts", HookPowerOff)
	Stops            = managed("stopped members", HookStop)
	Upgrades         = managed("several releases", HookUpgrade)
	RollsBack        = managed("several releases", HookRollback)
	ReachesHere      = managed("aggregated servers", MeansAddress)
	ReadsEtcd        = managed("access to etcd", MeansEtcd)
	FaultsKeys       = implementing[EtcdKeyFaultInjector]("faults of etcd keys", "its links cannot tell requests to etcd apart by their keys")
	FaultsHTTP       = implementing[HTTPFaultInjector]("faults of HTTP requests", "its links do not understand HTTP")
	SwitchesFeatures = implementing[FeatureSwitcher]("feature switches", "it cannot switch features off")
)

// RunsMembers is the ability of a cluster whose members the harness runs: it sees every process
// and shapes every link.
var RunsMembers = Ability{Name: "members that Evenkeel runs", Lack: func(c Cluster) string {
	if _, ok := c.(ExternallyManaged); ok {
		return "only the API servers of an external cluster show that they were hit"
	}
	return ""
}}

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
