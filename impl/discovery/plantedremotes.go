package discovery

import (
	"context"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// plantedRemotes is what the planted defects of aggregated servers remember.
type plantedRemotes struct {
	*Remotes
	d defects.Set
	// due, leaving and waits are for what is put off.
	due, leaving map[schema.GroupVersion]bool
	waits        defects.Waits
	// lost are the workers whose servers ever did not answer.
	lost map[*worker]bool
}

// Plant plants the defects of aggregated servers; it is called before anything else is done.
func (r *Remotes) Plant(d defects.Set) {
	if len(d) == 0 {
		return
	}
	p := &plantedRemotes{Remotes: r, d: d, lost: map[*worker]bool{}}
	r.hooks = remoteHooks{
		tracks:    func(service Service) bool { return !p.trackLater(service) },               // defect: AD-14-lists-late
		untracks:  func(version schema.GroupVersion) bool { return !p.untrackLater(version) }, // defect: AD-19-untracks-late
		listed:    p.listed,
		untracked: p.untracked,
		adopts:    p.adopts,
		adopted:   p.adopted,
	}
}

func (p *plantedRemotes) listed(version schema.GroupVersion) apidiscoveryv2.APIVersionDiscovery {
	if p.d.Has(defects.AD14UnfetchedCurrent) {
		return fetched(version, answer{}) // defect: AD-14-unfetched-current
	}
	return unfetched(version)
}

func (p *plantedRemotes) untracked(version schema.GroupVersion) {
	if p.d.Has(defects.AD19TakesTheGroup) {
		p.catalog.RemoveGroup(Custom, version.Group) // defect: AD-19-takes-the-group
	}
	if p.d.Has(defects.AD19Blinks) {
		p.catalog.takeOut(version.Group) // defect: AD-19-blinks
	}
}

// adopts changes what an answer, or a failure, makes of the group-versions of a server.
func (p *plantedRemotes) adopts(w *worker, failed bool) relister {
	late := p.lateLocked(w, failed)
	return func(before apidiscoveryv2.APIVersionDiscovery, version schema.GroupVersion, a answer, failure error) (apidiscoveryv2.APIVersionDiscovery, bool) {
		switch {
		case late && failed:
			return before, false // defect: AD-17-marks-late
		case late:
			return outdated(before), true // defect: AD-18-recovers-late
		}
		next, changes := relisted(before, version, a, failure)
		lost := failed && (a.asked == nil || !a.covers(version))
		switch {
		case lost && p.d.Has(defects.AD17Forgets):
			next = unfetched(version) // defect: AD-17-forgets
		case !lost && changes && p.lost[w] && p.d.Has(defects.AD18StaleForEver):
			next = outdated(next) // defect: AD-18-stale-for-ever
		case !lost && len(a.asked) > 0 && a.asked[0] != version && p.d.Has(defects.AD10ListsFirstVersion):
			next = fetched(version, answer{}) // defect: AD-10-lists-first-version
		case !lost && len(before.Resources) > 0 && p.d.Has(defects.AD10KeepsFirstAnswer):
			next = before
			next.Freshness = apidiscoveryv2.DiscoveryFreshnessCurrent // defect: AD-10-keeps-first-answer
		}
		if lost {
			p.lost[w] = true
		}
		return next, changes
	}
}

// adopted has a server harm others, by its failure or by its answer.
func (p *plantedRemotes) adopted(w *worker, a answer, failure error) {
	switch {
	case failure == nil && p.d.Has(defects.AD22FallsOver) && lacksKind(a):
		panic("a resource has no kind") // defect: AD-22-falls-over
	case failure == nil && p.d.Has(defects.AD22BelievesAnything):
		for version, told := range a.versions {
			p.catalog.Set(Entry{Source: Remote, Group: version.Group, Version: told}) // defect: AD-22-believes-anything
		}
	case failure != nil && p.d.Has(defects.AD26TakesOthersOut):
		p.takeOthersOutLocked(w.backend) // defect: AD-26-takes-others-out
	case failure != nil && p.d.Has(defects.AD26TaintsOne):
		p.taintOneLocked(w.backend) // defect: AD-26-taints-one
	}
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
func (p *plantedRemotes) trackLater(service Service) bool {
	r, delay := p.Remotes, p.d.Delay(defects.AD14ListsLate)
	r.mu.Lock()
	defer r.mu.Unlock()
	version := service.GroupVersion
	_, tracked := r.services[version]
	waits, known := p.due[version]
	if delay == 0 || tracked || known {
		return waits
	}
	if p.due == nil {
		p.due = map[schema.GroupVersion]bool{}
	}
	p.due[version] = true
	over := r.rhythm.clock.After(delay)
	go func() {
		<-over
		r.mu.Lock()
		due := p.due[version]
		if due {
			p.due[version] = false // from now on
		}
		r.mu.Unlock()
		if due {
			r.Track(service)
		}
	}()
	return true
}

// untrackLater removes a group-version some time later, unless it is tracked again before.
func (p *plantedRemotes) untrackLater(version schema.GroupVersion) bool {
	r, delay := p.Remotes, p.d.Delay(defects.AD19UntracksLate)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(p.due, version)
	service, tracked := r.services[version]
	if delay == 0 || !tracked || p.leaving[version] {
		return false
	}
	if p.leaving == nil {
		p.leaving = map[schema.GroupVersion]bool{}
	}
	p.leaving[version] = true
	over := r.rhythm.clock.After(delay)
	go func() {
		<-over
		r.mu.Lock()
		leaves := p.leaving[version] && r.services[version] == service
		r.mu.Unlock()
		if leaves {
			r.Untrack(version)
		}
		r.mu.Lock()
		delete(p.leaving, version)
		r.mu.Unlock()
	}()
	return true
}

// late is whether what an aggregated server has just shown is not believed yet: that it
// fails, or that it answers again.
func (p *plantedRemotes) lateLocked(w *worker, failed bool) bool {
	r := p.Remotes
	now, address := r.rhythm.clock.Now(), w.backend.address()
	if failed {
		p.waits.Done("answers " + address)
		return p.waits.Left("fails "+address, now, p.d.Delay(defects.AD17MarksLate)) > 0
	}
	p.waits.Done("fails " + address)
	delay := p.d.Delay(defects.AD18RecoversLate)
	if !p.lost[w] || delay == 0 {
		return false
	}
	left := p.waits.Left("answers "+address, now, delay)
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
