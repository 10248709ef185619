package check

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// selfView is what a member hosts by itself, as it said in one thorough look. What
// the harness has defined is left out: custom resources and aggregated servers are
// in etcd for all members, and no peer's.
type selfView struct {
	// in is the process that said so, and seq the local view.
	in  *instance
	seq int64
	// local are the resources of each group-version in the local view.
	local map[string][]history.ListedResource
	// own are those of each group-version of which the server also gives a document
	// of its own, which is not aggregated and tells of nobody else.
	own map[string][]history.ListedResource
	// denied are the answers of 404 in the place of such a document.
	denied map[string]int64
	// unsure are group-versions for which there was another answer, or none.
	unsure map[string]bool
}

// askedLocal is the form in which servers tell of themselves alone.
const askedLocal = askedJSON + ";profile=nopeer"

// takeView notes what the member hosts whose look ends with the event in hand.
func (d *documents) takeView(w *World) {
	s := d.swept
	if s == nil || s.by == nil || s.by.ready == nil {
		return
	}
	var said *history.Event
	s.each(func(document *history.Document) bool {
		return document.Path == groupsPath && document.Accept == askedLocal && document.Code == http.StatusOK
	}, func(ev *history.Event) { said = ev })
	if said == nil || s.plainGroups(w) == nil {
		return
	}
	listing := d.listing(said.Document)
	if listing == nil {
		return
	}
	h := &selfView{
		in: s.by, seq: said.Seq, local: map[string][]history.ListedResource{},
		own: map[string][]history.ListedResource{}, denied: map[string]int64{}, unsure: map[string]bool{},
	}
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			if group.Name != "" && !d.defined(group.Name) && !w.isForeign(s.member, group.Name, version.Version, s.from) {
				h.local[named(group.Name, version.Version)] = d.inventories[version.Inventory]
			}
		}
	}
	for name, ev := range s.versionAnswers() {
		group, version, _ := versionOfPath(ev.Document.Path)
		told := versionIn(d.listing(ev.Document), group, version)
		switch {
		case group == "" || d.defined(group) || w.isForeign(s.member, group, version, s.from):
		case ev.Document.Code == http.StatusOK && told != nil:
			h.own[name] = d.inventories[told.Inventory]
		case ev.Document.Code == http.StatusNotFound:
			h.denied[name] = ev.Seq
		default:
			h.unsure[name] = true
		}
	}
	d.views[s.member] = h
}

// viewNow is what the process hosts that a member runs now; nil where nobody
// has looked at it.
func (w *World) viewNow(member string) *selfView {
	h := w.docs.views[member]
	if h == nil || h.in != w.servers[member].current() {
		return nil
	}
	return h
}

// denies is whether the member said that it has no document of a group-version.
func (h *selfView) denies(name string) bool { return h.denied[name] != 0 }

// lacks is whether the member does not host a resource of a group-version: neither
// its local view has it nor a document of its own. It is not sure of what it was
// asked for in vain.
func (h *selfView) lacks(name, resource string) bool {
	if h.unsure[name] {
		return false
	}
	own, known := h.own[name]
	if _, local := h.local[name]; local && !known && h.denied[name] == 0 {
		return false // it lists it, and nobody asked
	}
	if known {
		return find(own, resource) == nil
	}
	return true
}

// find gives a resource of a list; nil if it is not there.
func find(resources []history.ListedResource, name string) *history.ListedResource {
	i := slices.IndexFunc(resources, func(r history.ListedResource) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &resources[i]
}

// parted gives the parts of a group-version's name.
func parted(name string) (group, version string) {
	group, version, ok := strings.Cut(name, "/")
	if !ok {
		return "", name
	}
	return group, version
}

// resourceOfPath is the resource whose objects are at a path; ok is false where a
// path leads to anything else.
func resourceOfPath(path string) (name, resource string, ok bool) {
	rest, ok := strings.CutPrefix(path, groupsPath+"/")
	if !ok {
		return "", "", false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return "", "", false
	}
	return named(parts[0], parts[1]), parts[2], true
}

// left is since when a member has been gone: neither is there a process of its API
// server nor an identity Lease in force. It is false while there is either.
func (w *World) left(member string) (since int64, ok bool) {
	s := w.docs.standing[member]
	if s == nil || s.in != nil || s.exited == 0 {
		return 0, false
	}
	l := w.leases[w.serverOf[member]]
	if l == nil {
		return 0, false // nobody saw it join, so nobody knows that it left
	}
	if !l.there() {
		return max(s.exited, l.goneAt), true
	}
	if l.duration <= 0 || l.renewed.IsZero() {
		return 0, false
	}
	// By the clock of who renewed it, which is not ours.
	expired := int64(l.renewed.Add(l.duration + clockSkew).Sub(w.Header.Started))
	return max(s.exited, expired), expired <= w.Now
}

// acquainted is since when the members have been what they are: each takes part and
// goes on without a break, or has left. It is false while one is on its way.
func (w *World) acquainted() (since int64, ok bool) {
	for _, member := range w.order {
		at, ok := w.left(member)
		if !ok {
			at, ok = w.stands(member)
		}
		if !ok {
			return 0, false
		}
		since = max(since, at)
	}
	return since, true
}

// stands is since when a member has been there for its peers: its process was ready,
// was not frozen, and has had an identity Lease in force all the time. It is false
// while that is not so.
func (w *World) stands(member string) (since int64, ok bool) {
	s, l := w.docs.standing[member], w.leases[w.serverOf[member]]
	if s == nil || s.in == nil || s.joined == 0 || l == nil || !l.there() {
		return 0, false
	}
	if l.duration > 0 && !l.renewed.IsZero() && w.Header.Started.Add(time.Duration(w.Now)+clockSkew).After(l.renewed.Add(l.duration)) {
		return 0, false // it may have expired for some
	}
	since = s.joined
	if n := len(l.lapses); n > 0 {
		since = max(since, l.lapses[n-1])
	}
	return since, true
}
