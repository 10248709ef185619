package discovery

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// takeOthersOutLocked takes out what all other aggregated servers host, until each of them
// is fetched from again.
func (r *Remotes) takeOthersOutLocked(failed Backend) {
	for version, service := range r.services {
		if service.Backend != failed {
			r.catalog.Remove(Remote, version)
		}
	}
}

// taintOneLocked calls the first group-version of all other aggregated servers stale for a
// while.
func (r *Remotes) taintOneLocked(failed Backend) {
	var first *schema.GroupVersion
	for version, service := range r.services {
		if service.Backend != failed && (first == nil || version.String() < first.String()) {
			first = &version
		}
	}
	if first == nil {
		return
	}
	service := r.services[*first]
	r.catalog.Set(Entry{Source: Remote, Group: first.Group, Priority: service.Priority, Version: outdated(r.listed[*first])})
	back := r.catalog.clock.After(blink)
	go func() {
		<-back
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.services[*first] == service {
			r.listLocked(*first)
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

// lacksKind is whether an answer has a resource that does not say of which kind
// it is.
func lacksKind(a answer) bool {
	for _, version := range a.versions {
		if slices.ContainsFunc(version.Resources, func(r apidiscoveryv2.APIResourceDiscovery) bool {
			return r.ResponseKind == nil || r.ResponseKind.Kind == ""
		}) {
			return true
		}
	}
	return false
}

// WaitFetched returns once every aggregated server was fetched from, or after a
// while. Nothing waits so but a planted defect.
func (r *Remotes) WaitFetched(ctx context.Context, longest time.Duration) {
	over := r.catalog.clock.After(longest)
	for {
		stale := slices.ContainsFunc(r.catalog.Entries(), func(e Entry) bool { return e.Source == Remote && isStale(e.Version) })
		if !stale {
			return
		}
		select {
		case <-r.catalog.clock.After(recheck):
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// trackLater tracks a group-version some time later, unless it is removed before.
func (r *Remotes) trackLater(service Service) bool {
	delay := r.Defects.Delay(defects.AD14ListsLate)
	r.mu.Lock()
	defer r.mu.Unlock()
	version := service.GroupVersion
	_, tracked := r.services[version]
	waits, known := r.due[version]
	if delay == 0 || tracked || known {
		return waits
	}
	if r.due == nil {
		r.due = map[schema.GroupVersion]bool{}
	}
	r.due[version] = true
	over := r.rhythm.clock.After(delay)
	go func() {
		<-over
		r.mu.Lock()
		due := r.due[version]
		if due {
			r.due[version] = false // from now on
		}
		r.mu.Unlock()
		if due {
			r.Track(service)
		}
	}()
	return true
}

// untrackLater removes a group-version some time later, unless it is tracked again before.
func (r *Remotes) untrackLater(version schema.GroupVersion) bool {
	delay := r.Defects.Delay(defects.AD19UntracksLate)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.due, version)
	service, tracked := r.services[version]
	if delay == 0 || !tracked || r.leaving[version] {
		return false
	}
	if r.leaving == nil {
		r.leaving = map[schema.GroupVersion]bool{}
	}
	r.leaving[version] = true
	over := r.rhythm.clock.After(delay)
	go func() {
		<-over
		r.mu.Lock()
		leaves := r.leaving[version] && r.services[version] == service
		r.mu.Unlock()
		if leaves {
			r.Untrack(version)
		}
		r.mu.Lock()
		delete(r.leaving, version)
		r.mu.Unlock()
	}()
	return true
}

// late is whether what an aggregated server has just shown is not believed yet: that it
// fails, or that it answers again.
func (r *Remotes) lateLocked(w *worker, failed bool) bool {
	now, address := r.rhythm.clock.Now(), w.backend.address()
	if failed {
		r.waits.Done("answers " + address)
		return r.waits.Left("fails "+address, now, r.Defects.Delay(defects.AD17MarksLate)) > 0
	}
	r.waits.Done("fails " + address)
	delay := r.Defects.Delay(defects.AD18RecoversLate)
	if !w.lost || delay == 0 {
		return false
	}
	left := r.waits.Left("answers "+address, now, delay)
	if left == delay {
		over := r.rhythm.clock.After(delay)
		go func() {
			<-over
			r.mu.Lock()
			defer r.mu.Unlock()
			r.hurryLocked(w.backend)
		}()
	}
	return left > 0
}

// learnLate lets some time pass before what a peer said counts.
func (p *Peers) learnLate(ctx context.Context) {
	if delay := p.Defects.Delay(defects.AD23ShowsLate); delay > 0 {
		select {
		case <-p.rhythm.clock.After(delay): // defect: AD-23-shows-late
		case <-ctx.Done():
		}
	}
}

// leaveLate forgets what those hosted that have left some time later.
func (p *Peers) leaveLate() {
	over := p.rhythm.clock.After(p.Defects.Delay(defects.AD24LeavesLate))
	go func() {
		<-over
		p.mu.Lock()
		defer p.mu.Unlock()
		maps.DeleteFunc(p.hosts, func(id string, _ []apidiscoveryv2.APIGroupDiscovery) bool {
			_, stays := p.present[id]
			return !stays
		})
		p.announceLocked()
	}()
}
