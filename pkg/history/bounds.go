package history

import "time"

// Bounds of a history. A reader refuses what exceeds them, since a history may come from a
// stranger, and a Writer ends the run before it writes what a reader refuses.
const (
	// MaxLine is how many bytes a line may have. The longest event has a discovery document,
	// of which the recorders read 16 MiB at most; written as a Listing it may grow.
	MaxLine = 64 << 20
	// MaxSize is how many bytes a history may have as plain text. A run of Kubernetes on
	// kind records some 34 MB in ten minutes, so that this is enough for half a day.
	MaxSize = 2 << 30
	// MaxTime is how late in a history an event may be. It is far below the point at which
	// sums of times overflow.
	MaxTime = 7 * 24 * time.Hour
	// MaxMembers is how many members a header may name.
	MaxMembers = 100
	// maxBroken is how many lines may break the format before the reader gives up: a file
	// of which so much is wrong is no history, and the reader must come to an end.
	maxBroken = 10_000
	// maxDamage is how many sentences of damage are kept; a file that is not a
	// history at all would else fill the report.
	maxDamage = 50
	// maxShown is how many bytes of a value from the file a sentence of damage shows.
	maxShown = 40
	// maxCode is the largest status that HTTP can transport: three digits.
	maxCode = 999
)
