package discovery

import "time"

// The bounds of this package, all in one place. None of them makes an answer
// true.
const (
	// maxOptions is how many elements of an Accept header are read. No client
	// knows that many forms; the rest would only cost time.
	maxOptions = 100

	// rebuildShare bounds what rebuilding costs while changes keep coming: after
	// a rebuild the next one waits so long that at most one part in rebuildShare
	// of a processor goes into it. A change is visible after at most
	// rebuildShare times what a rebuild takes, half a second with 3000 CRDs.
	rebuildShare = 5

	// unhurried is the longest that a rebuild waits for the one before, should
	// the machine have stood still while that one ran.
	unhurried = time.Second

	// recheck is how often somebody who waits for a group-version looks whether
	// it is still wanted.
	recheck = 100 * time.Millisecond
)
