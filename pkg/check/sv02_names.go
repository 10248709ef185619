package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv02: a StorageVersion is named <group>.<resource>, the core group being
// spelled out as a fixed word (KEP-2339, resource version API). Every name in
// etcd must be that of a resource which some member hosts; judged at the end
// of holds, when discovery of every member has just been read.
type sv02 struct {
	findings
	core, named int64
}

func (c *sv02) Observe(w *World, ev *history.Event) {
	if ev.Hold == nil || ev.Hold.Phase != history.PhaseEnd {
		return
	}
	for member := range ev.Hold.Releases {
		if srv := w.servers[member]; srv == nil || len(srv.hosted) == 0 {
			return // what this member hosts is not known
		}
	}
	for name, v := range w.versions {
		if v.deleted {
			continue
		}
		group, ok := hostedName(w, name)
		switch {
		case !ok:
			c.violate(at(v.seq, ev.Seq), "StorageVersion %q is not the <group>.<resource> of anything that discovery lists", name)
		case group == coreGroup:
			c.core++
		default:
			c.named++
		}
	}
}

// hostedName takes a name apart at its last dot, since names of resources have
// none and names of groups do, and looks the resource up in discovery.
func hostedName(w *World, name string) (group string, ok bool) {
	i := strings.LastIndex(name, ".")
	if i <= 0 {
		return "", false
	}
	for _, srv := range w.servers {
		for _, r := range srv.hosted {
			if objectName(r.Group, r.Resource) == name {
				return name[:i], true
			}
		}
	}
	return "", false
}

func (c *sv02) Finish(*World) {}

func (c *sv02) Observations() []Observation {
	return []Observation{
		{"names of resources of the core group", c.core, needNames},
		{"names of resources of other groups", c.named, needNames},
	}
}
