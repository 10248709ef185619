package observe

import (
	"sync"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Library knows what a history tells of discovery already, so that what is long
// and the same on all members and for a long time is told once.
type Library struct {
	mu sync.Mutex
	// read are the listings of bodies, by content type and digest.
	bodies map[string]*reading
	// told are the names of listings and inventories that the history has.
	told map[string]bool
}

// reading is what came of reading a body.
type reading struct {
	listing    *history.Listing
	content    string
	status     string
	unreadable string
}

// maxBodies is how many bodies are remembered, so that the same ones are not
// read again; then all are forgotten.
const maxBodies = 1000

// NewLibrary makes one for a new history.
func NewLibrary() *Library {
	return &Library{bodies: map[string]*reading{}, told: map[string]bool{}}
}

// read fills in what a body tells. The Digest must be set.
func (l *Library) read(seen *history.DiscoveryDocument, body []byte) {
	key := seen.ContentType + " " + seen.Digest
	l.mu.Lock()
	known := l.bodies[key]
	l.mu.Unlock()
	if known == nil {
		known = &reading{}
		listing, status, err := readListing(seen.ContentType, body)
		switch {
		case err != nil:
			known.unreadable = shorten(err.Error())
		case listing != nil:
			known.listing, known.content = listing, nameOf(listing)
		}
		known.status = status
		l.mu.Lock()
		if len(l.bodies) >= maxBodies {
			clear(l.bodies)
		}
		l.bodies[key] = known
		l.mu.Unlock()
	}
	seen.Listing, seen.Content, seen.Status, seen.Unreadable = known.listing, known.content, known.status, known.unreadable
}

// record records an event without the content that the history already has. The event with
// the content comes before all others that refer to it, because the lock is held meanwhile.
func (l *Library) record(recorder Recorder, ev history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	document := *ev.DiscoveryDocument
	document.Listing = l.newsOf(document.Content, document.Listing)
	ev.DiscoveryDocument = &document
	recorder.Record(ev)
}

// newsOf is what is to be told of a listing.
func (l *Library) newsOf(content string, listing *history.Listing) *history.Listing {
	if listing == nil || l.told[content] {
		return nil
	}
	l.told[content] = true
	news := *listing
	news.Groups = make([]history.ListedGroup, len(listing.Groups))
	for i, group := range listing.Groups {
		versions := make([]history.ListedVersion, len(group.Versions))
		for j, version := range group.Versions {
			if version.Inventory != "" && l.told[version.Inventory] {
				version.Resources = nil
			}
			l.told[version.Inventory] = true
			if version.Accepted != "" && l.told[version.Accepted] {
				version.Accepts = nil
			}
			l.told[version.Accepted] = true
			versions[j] = version
		}
		group.Versions = versions
		news.Groups[i] = group
	}
	return &news
}
