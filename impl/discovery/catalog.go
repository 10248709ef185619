package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"
)

// place is where an entry stands: each source has at most one for each
// group-version.
type place struct {
	source  Source
	version schema.GroupVersion
}

// Catalog keeps a document in step with what is hosted. The sources put their
// group-versions in and take them out; Run publishes what follows.
type Catalog struct {
	clock   clock.WithTicker
	metrics catalogMetrics
	// hooks are where defects are planted.
	hooks hooks

	mu      sync.Mutex
	entries map[place]Entry
	// state counts the changes of entries.
	state uint64
	// dirty is poked when entries have changed.
	dirty chan struct{}

	// late are the group-versions that a planted defect takes out later.
	late map[place]bool

	// building keeps rebuilds in their order.
	building sync.Mutex

	// published, its state and news change together, under mu.
	published      *Document
	builtin        *Document
	publishedState uint64
	// news is closed when something was published, and replaced.
	news chan struct{}
	// listeners are called after that.
	listeners []func()
}

// NewCatalog returns an empty catalog of the document at a path, "api" or
// "apis", which labels its metrics.
func NewCatalog(path string, clock clock.WithTicker) (*Catalog, error) {
	return newCatalog(metricsFor(path), clock)
}

// NewUnmeasuredCatalog returns one that shows in no metrics: that of a server that does
// not serve the aggregated document.
func NewUnmeasuredCatalog(_ string, clock clock.WithTicker) (*Catalog, error) {
	return newCatalog(catalogMetrics{}, clock)
}

func newCatalog(metrics catalogMetrics, clock clock.WithTicker) (*Catalog, error) {
	empty, err := NewDocument(nil)
	if err != nil {
		return nil, err
	}
	return &Catalog{
		clock: clock, metrics: metrics, hooks: soundHooks(),
		entries: map[place]Entry{}, dirty: make(chan struct{}, 1),
		published: empty, builtin: empty, news: make(chan struct{}),
	}, nil
}

// Set puts an entry in, in place of the one that its source had of the same
// group-version. The entry is copied, and its kinds are written out in full.
func (c *Catalog) Set(entry Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setLocked(entry)
}

func (c *Catalog) setLocked(entry Entry) {
	at := place{entry.Source, entry.GroupVersion()}
	entry.Version = *entry.Version.DeepCopy()
	completeKinds(entry.GroupVersion(), entry.Version.Resources)
	if entry.Source != Remote {
		completeAccepted(entry.Version.Resources)
	}
	entry = c.hooks.entry(entry)
	delete(c.late, at)
	if before, ok := c.entries[at]; ok && apiequality.Semantic.DeepEqual(before, entry) {
		return
	}
	c.entries[at] = entry
	c.touchLocked()
}

// Rank changes the priority of a source's group-version, if it has it.
func (c *Catalog) Rank(source Source, version schema.GroupVersion, priority Priority) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{source, version}
	if entry, ok := c.entries[at]; ok && entry.Priority != priority {
		entry.Priority = priority
		c.entries[at] = entry
		c.touchLocked()
	}
}

// Remove takes a group-version of a source out.
func (c *Catalog) Remove(source Source, version schema.GroupVersion) {
	if c.hooks.keeps(source, version) {
		return
	}
	if c.removeWhere(func(at place) bool { return at == place{source, version} }) {
		c.hooks.removed(source)
	}
}

// RemoveGroup takes all versions of a group of a source out.
func (c *Catalog) RemoveGroup(source Source, group string) {
	if c.hooks.keeps(source, schema.GroupVersion{Group: group}) {
		return
	}
	c.removeWhere(func(at place) bool { return at.source == source && at.version.Group == group })
}

// Replace makes the entries all that a source has.
func (c *Catalog) Replace(source Source, entries []Entry) {
	kept := map[schema.GroupVersion]bool{}
	for _, entry := range entries {
		kept[entry.GroupVersion()] = true
	}
	c.removeWhere(func(at place) bool { return at.source == source && !kept[at.version] })
	for _, entry := range entries {
		entry.Source = source
		c.Set(entry)
	}
}

// removeWhere reports whether there was something to remove.
func (c *Catalog) removeWhere(gone func(place) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.entries)
	for at := range c.entries {
		if gone(at) {
			delete(c.entries, at)
		}
	}
	if len(c.entries) == before {
		return false
	}
	c.touchLocked()
	return true
}

// Has reports whether a source has put a group-version in.
func (c *Catalog) Has(source Source, version schema.GroupVersion) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.entries[place{source, version}]
	return ok
}

// touchLocked notes a change.
func (c *Catalog) touchLocked() {
	c.state++
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// Document returns the document that was published last.
func (c *Catalog) Document() *Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published
}

// Builtin is the part of it that the process hosts without CRDs or APIServices.
func (c *Catalog) Builtin() *Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.builtin
}

// Entries returns all group-versions of the catalog, published or not. The caller
// must not change their content.
func (c *Catalog) Entries() []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.entries))
}

// News returns the document, and a channel that is closed once another one may
// have been published.
func (c *Catalog) News() (*Document, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published, c.news
}

// Notify calls a function whenever something was published from now on. It must
// not block.
func (c *Catalog) Notify(listener func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, listener)
}

// Run publishes changes until the context ends.
func (c *Catalog) Run(ctx context.Context) {
	c.hooks.begins()
	var pace pace
	for {
		select {
		case <-c.dirty:
		case <-ctx.Done():
			return
		}
		start := c.clock.Now()
		if err := c.Publish(); err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Discovery stays as it was")
		}
		now := c.clock.Now()
		select {
		case <-c.clock.After(pace.pause(now, now.Sub(start))):
		case <-ctx.Done():
			return
		}
		c.hooks.published()
	}
}

// Publish brings the document up to date. It is for those who cannot wait for
// Run, such as a server that is about to start.
func (c *Catalog) Publish() error {
	c.building.Lock()
	defer c.building.Unlock()
	c.mu.Lock()
	state, before, builtin := c.state, c.published, c.builtin
	current := state == c.publishedState
	entries := make([]Entry, 0, len(c.entries))
	stale := 0
	for _, entry := range c.entries {
		entries = append(entries, entry)
		if isStale(entry.Version) {
			stale++
		}
	}
	c.mu.Unlock()
	if current {
		return nil
	}

	start := c.clock.Now()
	document, err := succeed(before, c.hooks.merged(Merge(entries)), c.hooks.document)
	if err != nil {
		return fmt.Errorf("merge %d group-versions: %w", len(entries), err)
	}
	foreign := func(e Entry) bool { return e.Source != Builtin }
	builtin, err = succeed(builtin, Merge(slices.DeleteFunc(slices.Clone(entries), foreign)), c.hooks.document)
	if err != nil {
		return fmt.Errorf("merge the built-in ones of %d group-versions: %w", len(entries), err)
	}
	c.metrics.built(c.clock.Since(start), len(entries), stale)

	c.mu.Lock()
	c.published, c.builtin, c.publishedState = document, builtin, state
	close(c.news)
	c.news = make(chan struct{})
	listeners := slices.Clone(c.listeners)
	c.mu.Unlock()
	for _, listener := range listeners {
		listener()
	}
	return nil
}

// WaitFor returns once every group-version that is wanted of a source is
// published, or with the context's error. What is wanted may change meanwhile.
func (c *Catalog) WaitFor(ctx context.Context, source Source, wanted func() []schema.GroupVersion) error {
	for {
		_, news := c.News()
		if missing := c.missing(source, wanted()); missing == "" {
			return c.Wait(ctx)
		} else if ctx.Err() != nil {
			return fmt.Errorf("discovery lacks %s: %w", missing, ctx.Err())
		}
		select {
		case <-news:
		case <-c.clock.After(recheck):
		case <-ctx.Done():
		}
	}
}

// missing names one of the group-versions that a source has not added.
func (c *Catalog) missing(source Source, wanted []schema.GroupVersion) string {
	for _, version := range wanted {
		if !c.Has(source, version) {
			return version.String()
		}
	}
	return ""
}

// Wait returns once every entry that was added before the call is published, or
// with the context's error. It needs a running catalog (Run).
func (c *Catalog) Wait(ctx context.Context) error {
	c.mu.Lock()
	wanted := c.state
	c.mu.Unlock()
	for {
		c.mu.Lock()
		reached, news := c.publishedState >= wanted, c.news
		c.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("discovery is not up to date: %w", ctx.Err())
		}
	}
}
