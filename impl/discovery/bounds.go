package discovery

import "time"

// The bounds of this package, all in one place. None of them makes an answer
// true.
const (
	// maxOptions is how many elements of an Accept header are read. No client
	// knows that many forms; the rest would only cost time.
	maxOptions = 100

	// rebuildShare bounds what rebuilding costs while changes keep coming: at most
	// one part in rebuildShare of a processor goes into it. A change is visible
	// after at most rebuildShare times what a rebuild takes.
	rebuildShare = 5

	// savedMost is how long rebuilds may take without any pause after some quiet:
	// those of a change that comes in pieces, with 3000 CRDs.
	savedMost = 200 * time.Millisecond

	// unhurried is the longest that a rebuild waits after the previous one, even if
	// the machine was paused during that one.
	unhurried = time.Second

	// recheck is how often a goroutine that waits for a group-version checks whether
	// the group-version is still wanted.
	recheck = 100 * time.Millisecond
)

// The bounds of asking aggregated servers.
const (
	// FetchInterval is the time between two fetches from a server that answers.
	// One that has nothing new answers with a few bytes.
	FetchInterval = 30 * time.Second
	// fetchTimeout ends a request that is not answered in full, however slowly
	// the answer drips.
	fetchTimeout = 5 * time.Second
	// fetchRetry and fetchRetryMax bound the pause after a failed fetch. The
	// longest one decides how soon a recovery is noticed.
	fetchRetry    = 500 * time.Millisecond
	fetchRetryMax = 15 * time.Second
	// fetchSpacing is the least time between two fetches from one server,
	// however often its APIServices change.
	fetchSpacing = 500 * time.Millisecond
	// fullEvery is the number of fetches from a server of which one is
	// unconditional, so that a server whose tag does not change with its content
	// does not stay outdated forever.
	fullEvery = 10
	// maxRemoteDocument is the most bytes that are read of an answer. A server
	// with 3000 CRDs answers with three million.
	maxRemoteDocument = 4 << 20
	// downloadVerbosity is the verbosity from which on each download is logged.
	downloadVerbosity = 3
	// maxRemoteTag is the longest tag that is sent back to its server.
	maxRemoteTag = 1 << 10
)
