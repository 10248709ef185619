package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv22: in a mixed control plane the disagreement can be seen, when the
// upgrade is finished the new version is agreed, and a rollback is no
// different. What is true is taken from the bytes that each member stored
// during a hold; what can be seen is what clients of every member were shown.
type sv22 struct {
	findings
	mixed, finished, afterRollback int64
	// stored is what each member wrote of each resource during this hold; nil
	// outside of holds.
	stored map[groupResource]map[string]map[string]int64
	// shown is the latest view of each object through each member.
	shown map[string]*views
	// wrote are the versions found to be written at the last hold that was
	// judged, and agreed the last one that was the only one, by resource.
	wrote      map[groupResource]string
	agreed     map[groupResource]string
	rolledBack bool
	// unseen are members, with their holds, whose clients were shown nothing; in
	// words.
	unseen []string
}

// watchedVersions is what the recorder's watch of StorageVersions is called.
const watchedVersions = "storageversions"

// keptUnseen bounds how many are told one by one.
const keptUnseen = 20

// views is what one member shows its clients, from an open watch.
type views struct {
	opened int64 // the event by which the watch began
	byName map[string]view
}

type view struct {
	seq    int64
	common *string
	gone   bool
}

func newSV22() *sv22 {
	return &sv22{shown: map[string]*views{}, wrote: map[groupResource]string{}, agreed: map[groupResource]string{}}
}

func (c *sv22) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Step != nil && ev.Step.Action == "rollback" && ev.Step.Phase == history.PhaseEnd:
		c.rolledBack = true
	case ev.Watch != nil && ev.Watch.Resource == watchedVersions:
		c.watch(ev)
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseBegin:
		c.stored = map[groupResource]map[string]map[string]int64{}
	case ev.Stored != nil && c.stored != nil:
		c.write(w, ev)
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd && c.stored != nil:
		told := len(c.stored) == 0
		for _, gr := range slices.SortedFunc(maps.Keys(c.stored), byName) {
			told = c.judge(w, ev, gr) || told
		}
		if !told {
			c.miss("in hold %q no resource was seen to be written by all members that were up", ev.Hold.Name)
		}
		c.stored, c.rolledBack = nil, false
	}
}

func byName(a, b groupResource) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource))
}

func (c *sv22) watch(ev *history.Event) {
	switch ev.Watch.Type {
	case history.WatchBroken:
		delete(c.shown, ev.Member) // what this member would show now is not known
		return
	case history.WatchOpened:
		c.shown[ev.Member] = &views{opened: ev.Seq, byName: map[string]view{}}
		return
	}
	v := c.shown[ev.Member]
	switch {
	case v == nil:
	case ev.Watch.Type == "DELETED":
		delete(v.byName, ev.Watch.Name)
	case ev.Watch.StorageVersion != nil:
		v.byName[ev.Watch.Name] = view{seq: ev.Seq, common: ev.Watch.StorageVersion.Common}
	}
}

// see gives what clients of a member see of an object; unknown without a watch.
func (c *sv22) see(member, name string) (v view, known bool) {
	all := c.shown[member]
	if all == nil {
		return view{}, false
	}
	if v, ok := all.byName[name]; ok {
		return v, true
	}
	// The watch began with a list of all there is.
	return view{seq: all.opened, gone: true}, true
}

func (c *sv22) write(w *World, ev *history.Event) {
	s := ev.Stored
	gr, ok := w.tagged(s)
	if !ok || s.Revision <= w.hold.revision || w.resources.hosting[gr] == hostedElse {
		return
	}
	if c.stored[gr] == nil {
		c.stored[gr] = map[string]map[string]int64{}
	}
	if c.stored[gr][s.Writer] == nil {
		c.stored[gr][s.Writer] = map[string]int64{}
	}
	c.stored[gr][s.Writer][s.APIVersion] = ev.Seq
}

// judge gives whether all was seen that can be seen of a resource in a hold. That
// members write different versions shows even if some are not seen to write.
func (c *sv22) judge(w *World, ev *history.Event, gr groupResource) bool {
	name := objectName(gr.group, gr.resource)
	if v := w.versions[name]; w.resources.hosting[gr] != hostedBuiltIn || v != nil && repairing(w, v) {
		return true // not this check's, or nobody's
	}
	members := sortedKeys(ev.Hold.Releases)
	written := map[string]int64{}
	seen := map[string]view{}
	silent, idle := 0, 0
	for _, member := range members {
		if len(c.stored[gr][member]) == 0 {
			silent++
			if up(w.servers[member]) {
				idle++
			}
		}
		for version, seq := range c.stored[gr][member] {
			written[version] = max(written[version], seq)
		}
		if v, ok := c.see(member, name); ok {
			seen[member] = v
		} else if up(w.servers[member]) {
			c.miss("in hold %q clients of %s were shown no StorageVersions", ev.Hold.Name, member)
		}
	}
	versions := sortedKeys(written)
	if silent > 0 && len(versions) == 1 {
		return idle == 0
	}
	if len(versions) == 1 && slices.ContainsFunc(members, func(member string) bool { return w.servers[member].current().silent() }) {
		return true // who has no StorageVersion API has agreed to nothing, which is SV-25's
	}
	for _, member := range members {
		if v, ok := seen[member]; ok {
			c.judgeView(w, ev, name, member, v, versions, written)
		}
	}
	if silent > 0 {
		return idle == 0
	}
	if len(seen) == len(members) {
		c.count(gr, versions)
	}
	return true
}

// up is whether a server runs, and was ready: only then it is asked what it
// hosts.
func up(srv *server) bool { return srv.knows() && srv.current().exitedAt == 0 }

func (c *sv22) miss(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); len(c.unseen) < keptUnseen && !slices.Contains(c.unseen, s) {
		c.unseen = append(c.unseen, s)
	}
}

func (c *sv22) doubts() []string { return c.unseen }

func (c *sv22) count(gr groupResource, versions []string) {
	now := strings.Join(versions, " and ")
	before, known := c.wrote[gr]
	c.wrote[gr] = now
	if c.rolledBack && known && before != now {
		c.afterRollback++
	}
	if len(versions) > 1 {
		c.mixed++
		return
	}
	if before, ok := c.agreed[gr]; ok && before != now {
		c.finished++
	}
	c.agreed[gr] = now
}

func (c *sv22) judgeView(w *World, ev *history.Event, name, member string, v view, versions []string, written map[string]int64) {
	evidence := at(v.seq, ev.Seq)
	for _, version := range versions {
		evidence = append(evidence, written[version])
	}
	all := strings.Join(versions, " and ")
	switch {
	case v.gone:
		c.infer(w, evidence, "in hold %q the members write %s, but clients of %s see no %s", ev.Hold.Name, all, member, name)
	case len(versions) > 1 && v.common != nil:
		c.infer(w, evidence, "in hold %q the members write %s, but clients of %s see %s agreed in %s", ev.Hold.Name, all, member, *v.common, name)
	case len(versions) == 1 && (v.common == nil || *v.common != versions[0]):
		c.infer(w, evidence, "in hold %q all members write %s, but clients of %s see %s agreed in %s", ev.Hold.Name, all, member, showCommon(v.common), name)
	}
}

func (c *sv22) Finish(*World) {}

func (c *sv22) Observations() []Observation {
	return []Observation{
		{What: "holds in which members wrote different versions", Seen: c.mixed, Need: needHolds},
		{What: "holds after a rollback that changed what is written", Seen: c.afterRollback, Need: needHolds},
		{What: "holds in which a version was written that had not been agreed before", Seen: c.finished, Need: needHolds},
	}
}
