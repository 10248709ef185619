package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv05: the versions that an entry calls served can be decoded, in any
// revision, and are those of this server's discovery.
//
// That is what the server answers for each version, /apis/<group>/<version>,
// and not only what it lists for the group. An entry is one server's own word,
// and the document of a version is the one that the server alone makes. The list
// of a group is made from the APIServices, which all servers share: a member of
// a release without a version takes that out of the lists of all others, which
// go on serving it. An entry that followed the list would be wrong then.
// A version that is listed has to be claimed in any case, and one that is claimed
// has to be answered.
type sv05 struct {
	findings
	compared int64
	each     perMember
}

func (c *sv05) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok && now != nil {
		c.decodable(ev, name, now)
	}
	if ev.Discovery == nil {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil || in.ready == nil {
		return
	}
	w.when(ev.Discovery.Revision, func() { c.judge(w, in, ev) })
}

func (c *sv05) decodable(ev *history.Event, name string, now *history.StorageVersion) {
	for _, e := range now.Entries {
		for _, v := range e.Served {
			if !slices.Contains(e.Decodable, v) {
				c.violate(at(ev.Seq), "in %s, %s serves %s and decodes only %v", name, e.ServerID, v, e.Decodable)
			}
		}
	}
}

func (c *sv05) judge(w *World, in *instance, ev *history.Event) {
	c.unhosted(w, in, ev)
	for _, r := range ev.Discovery.Resources {
		if !guardedByBarrier(r) {
			continue
		}
		name := objectName(r.Group, r.Resource)
		change, ok := w.changeAt(name, in.server.id, ev.Discovery.Revision)
		if !ok || !change.present {
			continue // SV-01 and SV-03 judge what is missing
		}
		if in.silent() && change.revision <= in.startRevision {
			continue // it has no word of its own, and this is of the process before
		}
		c.compared++
		c.each.add(w, in.server.member)
		if e := change.entry; !sameSet(e.Served, slices.Concat(r.Served, r.Unlisted)) {
			beside := ""
			if len(r.Unlisted) > 0 {
				beside = fmt.Sprintf(" and, unlisted, has %v", r.Unlisted)
			}
			c.infer(w, at(change.seq, ev.Seq), "in %s, %s calls %v served, but its discovery lists %v%s", name, e.ServerID, e.Served, r.Served, beside)
		}
	}
}

// unhosted looks for entries that a process has put in of resources that its
// discovery does not have, where another server's has them as built-in ones. What
// the process before it has left is not its word.
func (c *sv05) unhosted(w *World, in *instance, ev *history.Event) {
	for _, name := range sortedKeys(w.versions) {
		change, ok := w.changeAt(name, in.server.id, ev.Discovery.Revision)
		listed := slices.ContainsFunc(ev.Discovery.Resources, func(r history.HostedResource) bool { return objectName(r.Group, r.Resource) == name })
		elsewhere := slices.ContainsFunc(w.order, func(member string) bool { return hosts(w.servers[member].hosted, name) })
		if ok && change.present && change.revision > in.startRevision && !listed && elsewhere {
			c.infer(w, at(change.seq, ev.Seq), "in %s, %s calls %v served, but its discovery does not list the resource", name, change.entry.ServerID, change.entry.Served)
		}
	}
}

func (c *sv05) Finish(*World) {}

func (c *sv05) Observations() []Observation {
	return []Observation{
		{What: "entries compared with their server's discovery", Seen: c.compared, Need: needServedCompared},
		c.each.fewest("entries compared with their server's discovery", needServedCompared),
	}
}
