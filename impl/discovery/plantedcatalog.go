package discovery

import (
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Plant plants the defects of a catalog; it is called before anything else is done with that.
func (c *Catalog) Plant(d defects.Set) {
	if d.Has(defects.AD30Untimed) {
		c.metrics.duration = unobserved{} // defect: AD-30-untimed
	}
	c.hooks = hooks{
		entry:     func(entry Entry) Entry { return c.plantedNames(plantedEntry(entry, d), d) },
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

// plantedNames gives a custom resource that is there the short names that it had at first.
func (c *Catalog) plantedNames(entry Entry, d defects.Set) Entry {
	before, ok := c.entries[place{entry.Source, entry.GroupVersion()}]
	if !ok || entry.Source != Custom || !d.Has(defects.AD13KeepsNames) {
		return entry
	}
	for i := range entry.Version.Resources {
		for _, one := range before.Version.Resources {
			if one.Resource == entry.Version.Resources[i].Resource {
				entry.Version.Resources[i].ShortNames = one.ShortNames // defect: AD-13-keeps-names
			}
		}
	}
	return entry
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
