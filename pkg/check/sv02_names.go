package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv02: a StorageVersion is named <group>.<resource>, the core group being
// spelled out as a fixed word (KEP-2339, resource version API). Every name in
// etcd must be that of a resource which some member hosts or has hosted; judged
// at the end of holds, when discovery of every member has just been read. A
// custom resource is announced before it is served, so that its definition is
// word enough for its name.
type sv02 struct {
	findings
	core, named int64
	defined     map[string]bool
}

func newSV02() *sv02 { return &sv02{defined: map[string]bool{}} }

func (c *sv02) Observe(w *World, ev *history.Event) {
	if s := ev.Stored; s != nil && s.ObjectKind == "CustomResourceDefinition" && strings.HasPrefix(s.APIVersion, "apiextensions.k8s.io/") {
		// A definition's own name is <resource>.<group>.
		if resource, group, ok := strings.Cut(s.Name, "."); ok {
			c.defined[objectName(group, resource)] = true
		}
		return
	}
	if ev.Hold == nil || ev.Hold.Phase != history.PhaseEnd {
		return
	}
	looked := int64(0)
	for member := range ev.Hold.Releases {
		srv := w.servers[member]
		if !srv.knows() {
			return // what this member hosts is not known
		}
		looked = max(looked, srv.hostedRevision)
	}
	for _, name := range w.names() {
		v := w.versions[name]
		switch {
		case !w.resources.names[name] && !c.defined[name]:
			if v.made > looked {
				continue // it is newer than what is known of what is hosted
			}
			c.infer(w, at(v.seq, ev.Seq), "StorageVersion %q is not the <group>.<resource> of anything that discovery lists", name)
		case strings.HasPrefix(name, coreGroup+"."):
			c.core++
		default:
			c.named++
		}
	}
}

func (c *sv02) Finish(*World) {}

func (c *sv02) Observations() []Observation {
	return []Observation{
		{What: "names of resources of the core group", Seen: c.core, Need: needNames},
		{What: "names of resources of other groups", Seen: c.named, Need: needNames},
	}
}
