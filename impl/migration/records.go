package migration

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The ConfigMaps that keep state.
const (
	// RecordNamespace holds them.
	RecordNamespace = metav1.NamespaceSystem
	// RecordLabel marks them; its value says what a ConfigMap holds.
	RecordLabel = "reference.evenkeel.dev/storage-migration"
	// StateRecord is the value for a State, of which there is one for each
	// resource that a StorageVersion describes.
	StateRecord = "state"
	// CheckpointRecord is the value for a Checkpoint, of which there is one for
	// each migration under way.
	CheckpointRecord = "checkpoint"
	// RecordKey is the key of the data that holds the record, as JSON.
	RecordKey = "record"
	// GenerationAnnotation is the number of a migration among those of its
	// resource, where it was given before the migration began.
	GenerationAnnotation = "reference.evenkeel.dev/migration-generation"
	// ReasonAnnotation is why a migration was created.
	ReasonAnnotation = "reference.evenkeel.dev/migration-reason"
)

// StateName is the name of the ConfigMap for a resource, which is named after
// its StorageVersion object.
func StateName(storageVersion string) string { return "storage-state." + storageVersion }

// CheckpointName is the name of the ConfigMap for a migration.
func CheckpointName(migration types.UID) string { return "migration-checkpoint." + string(migration) }

// Encode writes a state down.
func (s State) Encode() string {
	// Strings, numbers and times always encode.
	bytes, _ := json.Marshal(s)
	return string(bytes)
}

// DecodeState reads what Encode wrote.
func DecodeState(text string) (State, error) {
	var s State
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return State{}, fmt.Errorf("a storage state cannot be read: %w", err)
	}
	return s, nil
}

// Merge is what to go by when two processes remember different things: neither
// number nor version may get lost.
func (s State) Merge(other State) State {
	s.Generation = max(s.Generation, other.Generation)
	s.ObservedGeneration = max(s.ObservedGeneration, other.ObservedGeneration)
	s.CompletedGeneration = max(s.CompletedGeneration, other.CompletedGeneration)
	s.Persisted = union(s.Persisted, other.Persisted)
	return s
}
