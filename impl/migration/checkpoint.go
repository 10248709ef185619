package migration

import (
	"encoding/json"
	"fmt"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Checkpoint is the progress of a migration. The worker writes it after each chunk, so
// that the next worker repeats at most one chunk.
//
// KEP-25: the worker keeps the continue token as its checkpoint.
type Checkpoint struct {
	// Migration is the uid of the migration, Generation its number.
	Migration  types.UID `json:"migration"`
	Generation int64     `json:"generation"`
	// Basis is the agreement under which the objects were gone through, since the
	// beginning of this pass.
	Basis Basis `json:"basis"`
	// DefinitionGeneration is that of a custom resource's definition when this
	// pass began.
	DefinitionGeneration int64 `json:"definitionGeneration,omitempty"`
	// Pass counts how often the objects are gone through, from 1.
	Pass int `json:"pass"`
	// Continue is where the next chunk begins; empty for the first one.
	Continue string `json:"continue,omitempty"`
	// Listed: the last chunk of this pass is done.
	Listed bool `json:"listed,omitempty"`
	// Done counts the processed objects of this pass, by outcome.
	// Remaining is the server's remainingItemCount, if it returned one.
	Done      Tally  `json:"done"`
	Remaining *int64 `json:"remaining,omitempty"`
	// Refusal is the first object of this pass that could not be written, and why.
	Refusal string `json:"refusal,omitempty"`
	// Verdict is the worker's outcome, if the controller and not the worker writes the
	// outcome of the migration. PutOff is why the worker cannot continue at present.
	Verdict *Verdict `json:"verdict,omitempty"`
	PutOff  string   `json:"putOff,omitempty"`
	// Trouble is what keeps the worker from the end of the present chunk.
	Trouble Trouble `json:"trouble,omitzero"`
}

// Verdict is the outcome of a migration, with its reason and message.
type Verdict struct {
	Outcome storagemigrationv1.MigrationConditionType `json:"outcome"`
	Reason  string                                    `json:"reason"`
	Message string                                    `json:"message"`
}

// Tally counts objects by outcome.
type Tally struct {
	Written   int64 `json:"written"`
	Overtaken int64 `json:"overtaken"`
	Gone      int64 `json:"gone"`
	Refused   int64 `json:"refused"`
}

// Add counts one object.
func (t Tally) Add(o Outcome) Tally {
	switch o {
	case Written:
		t.Written++
	case Overtaken:
		t.Overtaken++
	case Gone:
		t.Gone++
	case Refused:
		t.Refused++
	case Again, Broken, Unserved: // the object is not done with
	}
	return t
}

// Total is how many objects were counted.
func (t Tally) Total() int64 { return t.Written + t.Overtaken + t.Gone + t.Refused }

func (t Tally) plus(o Tally) Tally {
	return Tally{Written: t.Written + o.Written, Overtaken: t.Overtaken + o.Overtaken, Gone: t.Gone + o.Gone, Refused: t.Refused + o.Refused}
}

// Chunk is the result for the objects of one list.
type Chunk struct {
	// Continue is where the next chunk begins; empty if there is none.
	Continue  string
	Remaining *int64
	Done      Tally
	Refusal   string
}

// Begun is the checkpoint before anything was done.
func Begun(migration types.UID, generation int64, basis Basis, definition *Definition) Checkpoint {
	return Checkpoint{Migration: migration, Generation: generation}.Again(basis, definition)
}

// After is the checkpoint after a chunk.
func (c Checkpoint) After(chunk Chunk) Checkpoint {
	c.Continue, c.Listed = chunk.Continue, chunk.Continue == ""
	c.Done = c.Done.plus(chunk.Done)
	c.Remaining = chunk.Remaining
	c.Trouble, c.PutOff = Trouble{}, ""
	if c.Refusal == "" {
		c.Refusal = chunk.Refusal
	}
	return c
}

// Within is the checkpoint as it will be told of while a chunk is being written.
func (c Checkpoint) Within(done Tally) Checkpoint {
	c.Done = c.Done.plus(done)
	if c.Remaining != nil {
		left := max(*c.Remaining-done.Total(), 0)
		c.Remaining = &left
	}
	return c
}

// Again begins another pass, on a newer basis.
func (c Checkpoint) Again(basis Basis, definition *Definition) Checkpoint {
	next := Checkpoint{Migration: c.Migration, Generation: c.Generation, Basis: basis, Pass: c.Pass + 1}
	if definition != nil {
		next.DefinitionGeneration = definition.Generation
	}
	return next
}

// Expired returns the checkpoint after etcd has compacted the revision of the token.
// The server offers a token that continues from the same key in the present state:
// objects that were created meanwhile before that key are stored in the agreed version
// anyway. Without such a token the pass begins again.
//
// KEP-25: with the inconsistent continue token an expired token does no harm.
func (c Checkpoint) Expired(inconsistent string) Checkpoint {
	if inconsistent == "" {
		return c.Again(c.Basis, &Definition{Generation: c.DefinitionGeneration})
	}
	c.Continue = inconsistent
	return c
}

// Total returns the known number of objects; it is false until the server has returned
// a remainingItemCount.
func (c Checkpoint) Total() (int64, bool) {
	switch {
	case c.Listed:
		return c.Done.Total(), true
	case c.Remaining != nil:
		return c.Done.Total() + *c.Remaining, true
	}
	return 0, false
}

// Message describes the progress of the migration to users.
func (c Checkpoint) Message() string {
	message := fmt.Sprintf("%d objects migrated to %s", c.Done.Total()-c.Done.Refused, c.Basis.Version)
	if total, known := c.Total(); known {
		message = fmt.Sprintf("%d of %d objects migrated to %s", c.Done.Total()-c.Done.Refused, total, c.Basis.Version)
	}
	if c.Pass > 1 {
		message += fmt.Sprintf(", in pass %d", c.Pass)
	}
	if c.Done.Refused > 0 {
		message += fmt.Sprintf("; %d refused, the first: %s", c.Done.Refused, c.Refusal)
	}
	return message + "."
}

// Encode writes a checkpoint down.
func (c Checkpoint) Encode() string {
	// Strings and numbers always encode.
	bytes, _ := json.Marshal(c)
	return string(bytes)
}

// DecodeCheckpoint reads what Encode wrote.
func DecodeCheckpoint(text string) (Checkpoint, error) {
	var c Checkpoint
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return Checkpoint{}, fmt.Errorf("a checkpoint cannot be read: %w", err)
	}
	return c, nil
}
