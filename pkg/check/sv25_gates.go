package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv25: a server at which the StorageVersion API is switched off publishes nothing,
// and still takes part and stores objects. So a version may be called agreed only
// if nobody stores another one, whoever has reported; and when the API is switched
// on again the server reports as before, and the agreement is formed anew.
//
// What is true is taken from the bytes: an agreement is false in the moment in
// which an object is stored in another version.
type sv25 struct {
	findings
	// silent are the members whose server has been without the API, and skewed the
	// resources that one of them stored otherwise than the others had announced.
	silent map[string]bool
	skewed once
	// common is what each StorageVersion called agreed last.
	common  map[string]*string
	tempted int64
	// returned counts reports of servers that have the API again, and formed the
	// agreements with all of those.
	returned, formed int64
	seen             once
}

func newSV25() *sv25 { return &sv25{silent: map[string]bool{}, common: map[string]*string{}} }

func (c *sv25) Observe(w *World, ev *history.Event) {
	if p := ev.Process; p != nil && p.Component == history.ComponentAPIServer && p.Change == history.ProcessStarted && w.servers[ev.Member].current().silent() {
		c.silent[ev.Member] = true
	}
	if name, now, ok := changedStorageVersion(ev); ok {
		c.follow(w, name, now)
	}
	if len(c.silent) == 0 {
		return
	}
	switch {
	case ev.Stored != nil:
		c.write(w, ev)
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd:
		c.look(w, ev)
	}
}

// follow notes what is called agreed, and that it is again.
func (c *sv25) follow(w *World, name string, now *history.StorageVersion) {
	var common *string
	if now != nil {
		common = now.Common
	}
	if common != nil && c.common[name] == nil && c.skewed[name] && c.restored(w, now) {
		c.formed++
	}
	c.common[name] = common
}

// restored is whether all that have been without the API have reported again.
func (c *sv25) restored(w *World, now *history.StorageVersion) bool {
	for member := range c.silent {
		if w.servers[member].current().silent() || indexOf(now.Entries, w.serverOf[member]) < 0 {
			return false
		}
	}
	return true
}

func (c *sv25) write(w *World, ev *history.Event) {
	s := ev.Stored
	gr, ok := w.tagged(s)
	if !ok || w.resources.hosting[gr] == hostedElse {
		return
	}
	name := objectName(gr.group, gr.resource)
	v := w.versions[name]
	if v == nil || v.deleted || repairing(w, v) {
		return
	}
	if v.now.Common != nil && *v.now.Common != s.APIVersion && !w.finishes(s, name) {
		c.infer(w, at(v.seq, ev.Seq), "%s called %s agreed when %s stored %s as %s at revision %d%s",
			name, *v.now.Common, s.Writer, s.Name, s.APIVersion, s.Revision, c.state(w, s.Writer))
	}
	if !w.servers[s.Writer].current().silent() {
		return
	}
	others := slices.DeleteFunc(slices.Clone(v.now.Entries), func(e history.Entry) bool { return e.ServerID == w.serverOf[s.Writer] })
	if announced, equal := allEqual(others); equal && announced != s.APIVersion {
		c.tempted++
		c.skewed.first(name)
	}
}

// state says in words that a member's server is without the API, if so.
func (c *sv25) state(w *World, member string) string {
	if w.servers[member].current().silent() {
		return ", without the StorageVersion API"
	}
	return ""
}

// look compares, at the end of a hold, what servers that have the API again have
// reported of the resources that it was about.
func (c *sv25) look(w *World, ev *history.Event) {
	for _, member := range w.order {
		srv := w.servers[member]
		in := srv.current()
		if !c.silent[member] || in.silent() || !up(srv) {
			continue
		}
		for _, name := range sortedKeys(w.versions) {
			v := w.versions[name]
			switch {
			case !c.skewed[name] && v.entries[srv.id] == nil: // it has never reported it
			case !hosts(srv.hosted, name) || v != nil && repairing(w, v):
			case v == nil || v.deleted || indexOf(v.now.Entries, srv.id) < 0:
				c.infer(w, at(in.startSeq, ev.Seq), "%s has the StorageVersion API again, and no entry in %s at revision %d", member, name, ev.Hold.Revision)
			case c.skewed[name] && c.seen.first(member+" "+name):
				c.returned++
			}
		}
	}
}

func (c *sv25) Finish(*World) {}

func (c *sv25) Observations() []Observation {
	return []Observation{
		{What: "objects stored by servers without the StorageVersion API in another version than all others had announced", Seen: c.tempted, Need: needSilentWrites},
		{What: "entries put in again by servers that had it again", Seen: c.returned, Need: needVisits},
		{What: "agreements formed with all servers that had it again", Seen: c.formed, Need: needVisits},
	}
}
