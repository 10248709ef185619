package discovery

import (
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// hooks are where defects are planted in a catalog and the union that is made of it, one for
// each decision. Those of soundHooks change nothing.
type hooks struct {
	// entry is what is put in.
	entry func(Entry) Entry
	// keeps is whether a group-version, or with an empty version a group, stays although its
	// source takes it out; removed comes after it went.
	keeps   func(Source, schema.GroupVersion) bool
	removed func(Source)
	// begins comes before the first publication of Run, and published after each.
	begins, published func()
	// merged are the groups that are published, and document what is told of them.
	merged   func([]apidiscoveryv2.APIGroupDiscovery) []apidiscoveryv2.APIGroupDiscovery
	document func(*Document) (*Document, error)
	// peers are those of the union, and routes whether requests are handed on to them.
	peers  func([]Hosting) []Hosting
	routes func() bool
}

func soundHooks() hooks {
	return hooks{
		entry:     func(entry Entry) Entry { return entry },
		keeps:     func(Source, schema.GroupVersion) bool { return false },
		removed:   func(Source) {},
		begins:    func() {},
		published: func() {},
		merged:    func(groups []apidiscoveryv2.APIGroupDiscovery) []apidiscoveryv2.APIGroupDiscovery { return groups },
		document:  func(document *Document) (*Document, error) { return document, nil },
		peers:     func(peers []Hosting) []Hosting { return peers },
		routes:    func() bool { return true },
	}
}

// Plant plants the defects of a catalog; it is called before anything else is done with that.
func (c *Catalog) Plant(d defects.Set) {
	if d.Has(defects.AD30Untimed) {
		c.metrics.duration = unobserved{} // defect: AD-30-untimed
	}
	c.hooks = hooks{
		entry:     func(entry Entry) Entry { return plantedEntry(entry, d) },
		keeps:     func(source Source, version schema.GroupVersion) bool { return c.plantedKeeps(source, version, d) },
		removed:   func(source Source) { c.plantedRemoved(source, d) },
		begins:    func() { c.pauseFor(d.Has(defects.AD15ReadyEarly), lateCustom) }, // defect: AD-15-ready-early
		published: func() { c.plantedDeafness(d) },
		merged: func(groups []apidiscoveryv2.APIGroupDiscovery) []apidiscoveryv2.APIGroupDiscovery {
			return plantedMerge(groups, d)
		},
		document: func(document *Document) (*Document, error) { return plantedDocument(document, d) },
		peers:    func(peers []Hosting) []Hosting { return plantedPeers(peers, d) },
		routes:   func() bool { return !d.Has(defects.AD23HandsNothingOn) }, // defect: AD-23-hands-nothing-on
	}
}

func (c *Catalog) plantedKeeps(source Source, version schema.GroupVersion, d defects.Set) bool {
	switch {
	case source == Custom && d.Has(defects.AD13Ghost):
		return true // defect: AD-13-ghost
	case version.Version != "" && d.Has(defects.AD13ShowsLate):
		return c.putOff(place{source, version}, d.Delay(defects.AD13ShowsLate)) // defect: AD-13-shows-late
	}
	return false
}

func (c *Catalog) plantedRemoved(source Source, d defects.Set) {
	if source == Custom && d.Has(defects.AD25TaintsOthers) {
		c.taint() // defect: AD-25-taints-others
	}
}

func (c *Catalog) plantedDeafness(d defects.Set) {
	if !d.Has(defects.AD25LosesChanges) {
		return
	}
	<-c.clock.After(deafFor) // defect: AD-25-loses-changes
	select {
	case <-c.dirty:
	default:
	}
}

func (c *Catalog) pauseFor(on bool, pause time.Duration) {
	if on {
		<-c.clock.After(pause)
	}
}
