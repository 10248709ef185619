package convert

import (
	"fmt"
	"strings"
)

// names are new names by the old ones. Names that stay the same are left out.
type names map[string]string

// of is the new name of an old one. It fails for a name that only the new format has: a
// reader of the old format did not know it, and a converted history must not say more than
// the recorded one.
func (n names) of(old string) (string, error) {
	for from, to := range n {
		// encoding/json matches names without regard to case.
		if strings.EqualFold(from, old) {
			return to, nil
		}
	}
	for _, to := range n {
		if strings.EqualFold(to, old) {
			return "", fmt.Errorf("uses the name %q, which its format does not have", old)
		}
	}
	return old, nil
}

// Version 1 → 2 of the history format: kinds of events, which are the names of their
// payloads too.
var kinds = names{
	"gap": "recorderMissed", "away": "recorderDelayed", "exchange": "interceptedRequest", "etcd": "etcdHealth",
	"balancer": "loadBalancer", "document": "discoveryDocument", "discovery": "hostedResources",
	"foreign": "thirdPartyObject", "hash": "etcdHash", "custom": "customResourceAnswer",
}

// sources are the recorders that an event recorderMissed or recorderDelayed names.
var sources = names{
	"balancer": "loadBalancer", "document": "discoveryDocument", "discovery": "hostedResources",
	"hash": "etcdHash", "custom": "customResourceAnswer",
}

var phases = names{"left-out": "skipped"}

// actions are the names of steps, in histories and in scenarios.
var actions = names{
	"storm": "conflictStorm", "joinSilently": "joinWithoutReporting", "guest": "simulatedServer",
	"meet": "waitForHits", "define": "registerAPI", "undefine": "unregisterAPI",
	"backend": "setBackendBehavior", "foreignAPIService": "thirdPartyAPIService",
	"meddle": "mutate", "await": "awaitMigrations", "abort": "deleteMigration", // quoted
	"raze": "deleteNamespace", "elect": "simulateElection", "disturb": "disruptLease", // quoted
	"fields": "leaseFields", "turmoil": "randomFaults", // quoted
}

// behaviors are those of a misbehaving aggregated server.
var behaviors = names{"foreign": "wrongGroups", "unchanged": "notModified", "drip": "slowBody"}

var elections = names{"seize": "absent-holder", "odd": "malformed", "take-part": "participate"}

// payload is how one payload of an event changes.
type payload struct {
	// fields are the names of its fields.
	fields names
	// values are those of its fields, by the old name of the field.
	values map[string]names
}

// payloads by the old kind of their event.
var payloads = map[string]payload{
	"step":       {values: map[string]names{"action": actions, "phase": phases}},
	"notReached": {values: map[string]names{"action": actions}},
	"process":    {fields: names{"noticed": "selfReported", "off": "disabledFeatures"}},
	"request":    {fields: names{"lasting": "withoutDryRun"}, values: map[string]names{"election": elections}},
	"stored":     {fields: names{"acted": "leaderAction"}},
	"fault":      {values: map[string]names{"type": {"Storm": "ConflictStorm"}, "action": behaviors}},
	"gap":        {values: map[string]names{"source": sources}},
	"away":       {values: map[string]names{"source": sources}},
	"document":   {fields: names{"itself": "localOnly"}},
	"read":       {fields: names{"unserved": "notServed", "uncompared": "notCompared"}},
	"foreign":    {values: map[string]names{"change": {"went": "deleted"}}},
}

// headerFields are those of the header, and settings those of a topology.
var (
	headerFields = names{"gates": "featureGates"}
	settings     = names{"watchkeepers": "extraElections"} // quoted
)

// stepFields are the fields of steps that have other names now, by the old name of the
// step.
var stepFields = map[string]names{
	"upgrade":  {"with": "withFaults", "off": "disabledFeatures"},
	"rollback": {"with": "withFaults", "off": "disabledFeatures"},
	"restart":  {"with": "withFaults", "off": "disabledFeatures"},
	"storm":    {"with": "withFaults", "every": "interval"},
	"hold":     {"led": "leaderStableFor"},
	"tamper":   {"delete": "deleteStorageVersions", "deleteLeases": "deleteIdentityLeases", "invent": "addUnknownServer"},
	"guest":    {"reports": "storageVersions"},
	"meet":     {"over": "completed"},
	"backend":  {"does": "behavior"},
	"populate": {"lasts": "migrationDuration", "within": "timeout"},
	"await":    {"within": "timeout"},
	"elect":    {"odd": "malformedLease", "legacy": "legacyHolderFor"},
	"disturb":  {"does": "action", "times": "count"},
	"fields":   {"with": "coordinatedMember"},
	"turmoil":  {"least": "minDuration", "most": "maxDuration", "elections": "leaderChanges", "within": "timeout"}, // quoted
}

// stepValues are values of such fields, by the old names of step and field.
var stepValues = map[string]map[string]names{
	"backend":           {"does": behaviors},
	"disturb":           {"does": elections},
	"foreignAPIService": {"server": {"flaps": "flapping"}},
}

// participantFields are those of the participants of an elect step.
var participantFields = names{"silent": "ignoresPings", "ago": "renewedAgo", "late": "joinsLast"}

// leaderElectionFields are those of a scenario's leaderElection.
var leaderElectionFields = names{"watchkeepers": "extraElections", "errands": "leaderActivityProbe"} // quoted
