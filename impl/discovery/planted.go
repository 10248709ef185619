package discovery

import (
	"os"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// What planted defects do; where they are switched on is marked.

// lateCustom is how long the first publication after a start is put off.
const lateCustom = 4 * time.Second

// deafFor is how long a catalog ignores changes after a publication.
const deafFor = time.Second

// putOff is whether a version of a custom resource that has others is to go later. It
// stays if it is added again meanwhile.
func (c *Catalog) putOff(at place, delay time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := false
	for other := range c.entries {
		others = others || other.source == Custom && other.version.Group == at.version.Group && other != at
	}
	if _, there := c.entries[at]; !there || at.source != Custom || !others {
		return false
	}
	if c.late == nil {
		c.late = map[place]bool{}
	}
	c.late[at] = true
	over := c.clock.After(delay)
	go func() {
		<-over
		c.removeWhere(func(one place) bool { return one == at && c.late[at] })
	}()
	return true
}

// taintedGroup is a built-in group, and blink is how long a custom resource is out.
const (
	taintedGroup = "coordination.k8s.io"
	blink        = 5 * time.Second
)

// taint calls a built-in group-version stale.
func (c *Catalog) taint() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, entry := range c.entries {
		if at.source == Builtin && at.version.Group == taintedGroup && !isStale(entry.Version) {
			entry.Version.Freshness = apidiscoveryv2.DiscoveryFreshnessStale
			c.entries[at] = entry
			c.touchLocked()
		}
	}
}

// takeOut takes the custom resources of a group out for a while.
func (c *Catalog) takeOut(group string) {
	var out []Entry
	for _, entry := range c.Entries() {
		if entry.Source == Custom && entry.Group == group {
			out = append(out, entry)
		}
	}
	c.RemoveGroup(Custom, group)
	back := c.clock.After(blink)
	go func() {
		<-back
		for _, entry := range out {
			c.Set(entry)
		}
	}()
}

// plantedEntry is what is put into the catalog.
func plantedEntry(entry Entry, d defects.Set) Entry {
	if d.Has(defects.AD10LosesShortNames) {
		for i := range entry.Version.Resources {
			entry.Version.Resources[i].ShortNames = nil // defect: AD-10-loses-short-names
		}
	}
	if d.Has(defects.AD28WrongScope) && entry.Group == taintedGroup {
		for i := range entry.Version.Resources {
			entry.Version.Resources[i].Scope = apidiscoveryv2.ScopeCluster // defect: AD-28-wrong-scope
		}
	}
	if d.Has(defects.AD31AcceptsNothing) {
		for i := range entry.Version.Resources {
			for j := range entry.Version.Resources[i].Subresources {
				entry.Version.Resources[i].Subresources[j].AcceptedTypes = nil // defect: AD-31-accepts-nothing
			}
		}
	}
	return entry
}

// unobserved is a metric that nothing is counted in.
type unobserved struct{}

func (unobserved) Observe(float64) {}

// plantedPeers are the peers that the union is made of.
func plantedPeers(peers []Hosting, d defects.Set) []Hosting {
	if !d.Has(defects.AD23ForgetsResources) {
		return peers
	}
	planted := make([]Hosting, len(peers))
	for i, peer := range peers {
		planted[i].Server = peer.Server
		for _, group := range peer.Groups {
			group = *group.DeepCopy()
			for j := range group.Versions {
				group.Versions[j].Resources = nil // defect: AD-23-forgets-resources
			}
			planted[i].Groups = append(planted[i].Groups, group)
		}
	}
	return planted
}

// plantedMerge is the list that is published.
func plantedMerge(groups []apidiscoveryv2.APIGroupDiscovery, d defects.Set) []apidiscoveryv2.APIGroupDiscovery {
	if d.Has(defects.AD12OrderPerProcess) && len(groups) > 0 {
		at := os.Getpid() % len(groups)
		groups = slices.Concat(groups[at:], groups[:at]) // defect: AD-12-order-per-process
	}
	return groups
}

// plantedDocument is what the aggregated form of a document tells, which the other
// form was derived from before.
func plantedDocument(document *Document, d defects.Set) (*Document, error) {
	if !d.Has(defects.AD11OldestFirst) && !d.Has(defects.AD20Revision) {
		return document, nil
	}
	list := document.list.DeepCopy()
	if d.Has(defects.AD11OldestFirst) {
		for i := range list.Items {
			slices.Reverse(list.Items[i].Versions) // defect: AD-11-oldest-first
		}
	}
	planted, err := NewDocument(list.Items)
	if err != nil {
		return nil, err
	}
	if d.Has(defects.AD20Revision) {
		planted.list.ResourceVersion = "1" // defect: AD-20-revision
	}
	planted.plain = document.plain
	return planted, planted.encodeAnew()
}

// encodeAnew makes the canonical form of a document that was changed.
func (d *Document) encodeAnew() error {
	content, err := encode(d.list, canonical)
	if err != nil {
		return err
	}
	d.tag, d.starts = tagOf(content), nil
	first := &body{}
	first.plain.once.Do(func() { first.plain.bytes = content })
	d.forms[canonical] = first
	return nil
}
