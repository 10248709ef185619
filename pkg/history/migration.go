package history

import "strings"

// Migration is the content of a stored StorageVersionMigration.
type Migration struct {
	// Group and Resource are what is migrated; the core group is empty.
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	// Checkpoint is status.resourceVersion, by the letter; empty until it is
	// recorded.
	Checkpoint string      `json:"checkpoint,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Types of a Migration's conditions.
const (
	MigrationRunning   = "Running"
	MigrationSucceeded = "Succeeded"
	MigrationFailed    = "Failed"
)

// CustomResource is the content of a stored CustomResourceDefinition.
type CustomResource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
	// Storage is the version in which objects are to be stored, and Stored those in
	// which they may be; both without the group.
	Storage string   `json:"storage"`
	Stored  []string `json:"stored,omitempty"`
	// Generation counts the changes of the specification.
	Generation int64 `json:"generation,omitempty"`
	// Served are the versions in which it is served, without the group, and Established
	// is whether the condition Established is true.
	Served      []string `json:"served,omitempty"`
	Established bool     `json:"established,omitempty"`
	// Migrating is the status of the condition StorageMigrating; empty where the
	// definition has none.
	Migrating string `json:"migrating,omitempty"`
	// Webhook is whether a webhook converts its objects, which may be down.
	Webhook bool `json:"webhook,omitempty"`
}

// What is wrong with a ClassMigration request that must be refused.
const (
	// InvalidResource: the name of the resource is none.
	InvalidResource = "resource"
	// InvalidGroup: the name of the group is none.
	InvalidGroup = "group"
	// InvalidChange: another resource is to be migrated than before.
	InvalidChange = "change"
	// InvalidOutcome: an outcome is taken back.
	InvalidOutcome = "outcome"
	// InvalidBoth: a migration that has its outcome is to have the other one too.
	InvalidBoth = "both"
	// InvalidCheckpoint: the checkpoint is to be another one than was recorded.
	InvalidCheckpoint = "checkpoint"
)

// registryPrefix is in front of a resource's name in the keys of etcd; for some the
// group stands in between, which has a dot.
const registryPrefix = "/registry/"

// Hosted gives the resource of a stored object, by its key and the group that its
// bytes name; ok is false for what is no API object.
func (s *Stored) Hosted() (group, resource string, ok bool) {
	rest, found := strings.CutPrefix(s.Key, registryPrefix)
	if !found || s.APIVersion == "" {
		return "", "", false
	}
	group, _, found = strings.Cut(s.APIVersion, "/")
	if !found {
		group = ""
	}
	first, rest, _ := strings.Cut(rest, "/")
	if strings.Contains(first, ".") {
		first, _, _ = strings.Cut(rest, "/")
	}
	return group, first, first != ""
}
