package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// documents is what the history has told of discovery so far.
type documents struct {
	// listings and inventories by their names.
	listings    map[string]*history.Listing
	inventories map[string][]history.ListedResource
	// tags are the last few tags that each member gave at each path, with the names of
	// the listings that had them.
	tags map[[2]string][]taggedListing
	// under are the sweeps that are not at their end, by member.
	under map[string]*sweep
	// swept is the sweep that the event in hand completes; nil if none.
	swept *sweep
	// wanted is what the harness has defined, by what it is, and changedAt when
	// that changed last.
	wanted map[wish]*wanting
	// wants are the same, in the order in which they came up.
	wants     []*wanting
	changedAt int64
	// backends are the groups of aggregated servers that misbehave, and how.
	backends map[string]*misbehaviour
	healedAt int64
	// standing tells of each member since when it is ready without a break.
	standing map[string]*standing
	// views are what each member hosts by itself, by the latest thorough look at it.
	views      map[string]*selfView
	suspicions suspicions
}

// wish names one thing that the harness can define: a CustomResourceDefinition or
// an APIService. One of those has one version only.
type wish struct {
	remote   bool
	group    string
	resource string
}

// wanting is what is to be hosted because of a wish. It stays known after a
// delete: what is gone must not show.
type wanting struct {
	wish
	versions []string
	// before are the versions before the last change, and ever all that there may have
	// been: of what is gone nothing may show, however long ago that was.
	before, ever []string
	// from and until are when the last change was sent and answered; a change
	// whose outcome is unknown has no until.
	from, until int64
	seq         int64
	// begun is since when there may be any versions without a break.
	begun int64
	// spans are from and until of the last few changes.
	spans [][2]int64
}

// keptDefinitions is how many changes are remembered: more than a churn makes of one
// thing while a breach is held open.
const keptDefinitions = 32

// misbehaviour is what an aggregated server does wrong.
type misbehaviour struct {
	group, action string
	// since and until it does; until is 0 while it does.
	since, until int64
	// dead is since when nobody can have had an answer, also by what it did before;
	// it is since where it gives one.
	dead int64
	// bitten is since when it is known to have met somebody; 0 if it is not.
	bitten int64
	seq    int64
}

// standing is how a member's API server is.
type standing struct {
	in *instance
	// since is when it was first ready, or ready again; 0 while it is not.
	since int64
	// paused is whether it was frozen.
	paused bool
	// joined is when its process was ready first, or went on after it was frozen.
	// Unlike since, it stays while a busy server is late with an answer.
	joined int64
	// exited is when its last process ended; 0 while one runs.
	exited int64
}

func newDocuments() *documents {
	return &documents{
		listings: map[string]*history.Listing{}, inventories: map[string][]history.ListedResource{}, tags: map[[2]string][]taggedListing{}, under: map[string]*sweep{},
		wanted: map[wish]*wanting{}, backends: map[string]*misbehaviour{}, standing: map[string]*standing{}, views: map[string]*selfView{},
	}
}

// take brings what is known up to date.
func (d *documents) take(w *World, ev *history.Event) {
	d.swept = nil
	switch {
	case ev.Document != nil:
		d.learn(ev.Document.Listing, ev.Document.Content)
		d.learnTag(ev)
		d.sweep(w, ev)
		d.takeView(w)
	case ev.Request != nil && ev.Request.Defines != nil:
		d.want(ev)
	case ev.Fault != nil && ev.Fault.Type == history.FaultBackend:
		d.takeBackend(ev)
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer:
		d.takeProcess(w, ev)
	case ev.Ready != nil:
		d.takeReady(w, ev)
	}
	d.suspicions.weigh(w, false)
}

func (d *documents) learn(listing *history.Listing, name string) {
	if listing == nil {
		return
	}
	d.listings[name] = listing
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			if len(version.Resources) > 0 {
				d.inventories[version.Inventory] = version.Resources
			}
		}
	}
}

// taggedListing is the name of a listing with the tag that it had.
type taggedListing struct{ tag, content string }

// keptDocumentTags is how many tags of each member are remembered: the recorder asks with the one
// from before.
const keptDocumentTags = 4

func (d *documents) learnTag(ev *history.Event) {
	document := ev.Document
	if document.ETag == "" || document.Content == "" || document.Accept != askedJSON {
		return
	}
	key := [2]string{ev.Member, document.Path}
	seen, now := d.tags[key], taggedListing{document.ETag, document.Content}
	if slices.Contains(seen, now) {
		return
	}
	if len(seen) >= keptDocumentTags {
		seen = slices.Delete(seen, 0, 1)
	}
	d.tags[key] = append(seen, now)
}

// hadTag is the name of the listing that a member gave lately under a tag; empty if it is
// not known.
func (d *documents) hadTag(member, path, tag string) string {
	for _, seen := range d.tags[[2]string{member, path}] {
		if seen.tag == tag {
			return seen.content
		}
	}
	return ""
}

// listing is what a document says; nil where it says nothing, or where the line
// that told it is lost.
func (d *documents) listing(document *history.Document) *history.Listing {
	if document.Content == "" {
		return nil
	}
	return d.listings[document.Content]
}

// untold is whether the line is lost that told what a document says.
func (d *documents) untold(document *history.Document) bool {
	return document.Content != "" && d.listings[document.Content] == nil
}

func (d *documents) want(ev *history.Event) {
	r, defines := ev.Request, ev.Request.Defines
	// Who has lost its etcd on the way answers with an error, and may have done it.
	unknown := r.Code == 0 || r.Code >= 500 && !r.Barrier
	if r.Code >= 400 && !unknown && (r.Verb != "delete" || r.Code != 404) {
		return // it was refused
	}
	key := wish{defines.Remote, defines.Group, defines.Resource}
	now := d.wanted[key]
	if now == nil {
		now = &wanting{wish: key}
		d.wanted[key] = now
		d.wants = append(d.wants, now)
	}
	if len(now.spans) >= keptDefinitions {
		now.spans = slices.Delete(now.spans, 0, 1)
	}
	now.spans = append(now.spans, [2]int64{ev.From, ev.At})
	if slices.Equal(now.versions, defines.Versions) && now.until > 0 && !unknown {
		// Only the priority of an APIService is another one, or what was gone was
		// deleted again.
		d.changedAt = ev.At
		return
	}
	if unsettled := now.until == 0 && now.from > 0; !unsettled {
		now.before = now.versions
		if len(now.versions) == 0 {
			now.begun = ev.From
		}
	}
	now.versions, now.from, now.until, now.seq = slices.Clone(defines.Versions), ev.From, ev.At, ev.Seq
	for _, version := range now.versions {
		if !slices.Contains(now.ever, version) {
			now.ever = append(now.ever, version)
		}
	}
	if unknown {
		now.until = 0
	}
	d.changedAt = ev.At
}

func (d *documents) takeBackend(ev *history.Event) {
	f := ev.Fault
	switch f.Phase {
	case history.PhaseInject:
		b, last := &misbehaviour{group: f.Group, action: f.Action, since: ev.At, dead: ev.At, seq: ev.Seq}, d.backends[f.Group]
		if last != nil && history.BackendTakesNothing(last.action) && history.BackendTakesNothing(f.Action) && (last.until == 0 || ev.At <= last.until+int64(turnsTo)) {
			b.dead = last.dead
		}
		d.backends[f.Group] = b
	case history.PhaseWitness:
		if b := d.backends[f.Group]; b != nil && f.Proof != "" {
			b.bitten = ev.At
		}
	case history.PhaseHeal:
		if b := d.backends[f.Group]; b != nil {
			b.until = ev.At
		}
		d.healedAt = ev.At
	}
	d.changedAt = ev.At
}

// active are all that misbehave now, in the order in which they began.
func (d *documents) active() (out []*misbehaviour) {
	for _, b := range d.backends {
		if b.until == 0 {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b *misbehaviour) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

// misbehaves is what a group's server does wrong now; nil if nothing.
func (d *documents) misbehaves(group string) *misbehaviour {
	if b := d.backends[group]; b != nil && b.until == 0 {
		return b
	}
	return nil
}

func (d *documents) takeProcess(w *World, ev *history.Event) {
	s := d.standingOf(ev.Member)
	switch ev.Process.Change {
	case history.ProcessStarted:
		*s = standing{in: w.servers[ev.Member].current()}
	case history.ProcessExited:
		*s = standing{exited: ev.At}
	case history.ProcessPaused:
		s.since, s.joined, s.paused = 0, 0, true
	case history.ProcessResumed:
		s.paused = false
	}
}

func (d *documents) takeReady(w *World, ev *history.Event) {
	s := d.standingOf(ev.Member)
	in := w.instanceAt(ev.Member, ev)
	if ev.Ready.Code == 200 && !s.paused && in != nil && in == s.in && s.joined == 0 {
		s.joined = ev.At
	}
	switch {
	case ev.Ready.Code != 200 || s.paused || in == nil || in != s.in:
		s.since = 0
	case s.since == 0:
		s.since = ev.At
	}
}

func (d *documents) standingOf(member string) *standing {
	s := d.standing[member]
	if s == nil {
		s = &standing{}
		d.standing[member] = s
	}
	return s
}

// knows is since when the member that answered could know all that was done
// before: when it was ready last. It is false where it was not ready, or another
// process may have answered.
func (d *documents) knows(w *World, ev *history.Event) (since int64, ok bool) {
	s := d.standing[ev.Member]
	if s == nil || s.since == 0 || ev.From < s.since || s.in == nil || w.instanceAt(ev.Member, ev) != s.in {
		return 0, false
	}
	return s.since, true
}

// settledBy is whether everything that the harness had done by now must show in
// an answer that was asked for at the time.
func (d *documents) settledBy(from int64) bool {
	for _, one := range d.wants {
		if one.until == 0 {
			return false
		}
	}
	return from >= d.changedAt+int64(definitionShows)
}

// due is whether something in the group is to host the version, or was so lately
// that this may still show in an answer that was asked for at the time by a member
// which could know everything since another one.
func (d *documents) due(group, version string, from, since int64) bool {
	return slices.ContainsFunc(d.wants, func(one *wanting) bool {
		switch {
		case one.group != group:
			return false
		case one.until == 0 || slices.Contains(one.versions, version):
			return true
		}
		return slices.Contains(one.ever, version) && from <= max(one.until, since)+int64(definitionShows)
	})
}

// versionIn gives the group-version as a listing has it.
func versionIn(listing *history.Listing, group, version string) *history.ListedVersion {
	if listing == nil {
		return nil
	}
	for i := range listing.Groups {
		if listing.Groups[i].Name != group {
			continue
		}
		for j := range listing.Groups[i].Versions {
			if listing.Groups[i].Versions[j].Version == version {
				return &listing.Groups[i].Versions[j]
			}
		}
	}
	return nil
}

// hosts is whether the group-version, as a listing has it, has the resource.
func (d *documents) hosts(version *history.ListedVersion, resource string) bool {
	return version != nil && slices.ContainsFunc(d.inventories[version.Inventory], func(r history.ListedResource) bool { return r.Name == resource })
}

// behind is whether what is listed of a group may still be what its aggregated server said
// while it misbehaved: nobody has to have asked it since.
func (d *documents) behind(group string, from int64) bool {
	b := d.backends[group]
	return b != nil && (b.until == 0 || from < b.until+int64(recovers))
}

// remote is whether an APIService of the harness hands the group-version on.
func (d *documents) remote(group, version string) bool {
	one := d.wanted[wish{remote: true, group: group}]
	return one != nil && (slices.Contains(one.versions, version) || slices.Contains(one.before, version))
}

// defined is whether the harness has anything to do with the group.
func (d *documents) defined(group string) bool {
	for _, one := range d.wants {
		if one.group == group {
			return true
		}
	}
	return false
}

// defines is whether the harness wants the group-version.
func (d *documents) defines(group, version string) bool {
	return slices.ContainsFunc(d.wants, func(one *wanting) bool { return one.group == group && slices.Contains(one.versions, version) })
}

// polled is whether the event is an answer of the aggregated document of all
// groups in JSON, wherever it comes from.
func polled(ev *history.Event) bool {
	d := ev.Document
	return d != nil && d.Path == groupsPath && d.IfNoneMatch == "" && d.Code == 200 && d.Accept == askedJSON
}

// askedJSON is the form in which documents are compared over time.
const askedJSON = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Paths of the two documents.
const (
	corePath   = "/api"
	groupsPath = "/apis"
)

// named writes a group-version as the API does.
func named(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// versionOfPath is the group-version that is at a path; ok is false where a path
// leads to anything else, such as the objects of a resource.
func versionOfPath(path string) (group, version string, ok bool) {
	if version, ok = strings.CutPrefix(path, corePath+"/"); ok {
		return "", version, version != "" && !strings.Contains(version, "/")
	}
	rest, ok := strings.CutPrefix(path, groupsPath+"/")
	if !ok {
		return "", "", false
	}
	group, version, ok = strings.Cut(rest, "/")
	return group, version, ok && version != "" && !strings.Contains(version, "/")
}
