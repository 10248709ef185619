package check

import (
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
	// stored is what each member wrote of each resource during this hold.
	stored map[groupResource]map[string]map[string]int64
	// shown is the latest view of each object through each member.
	shown map[string]map[string]view
	// agreedBefore is the version last found agreed, by resource.
	agreedBefore map[groupResource]string
	rolledBack   bool
}

type view struct {
	seq    int64
	common *string
	gone   bool
}

func newSV22() *sv22 {
	return &sv22{shown: map[string]map[string]view{}, agreedBefore: map[groupResource]string{}}
}

func (c *sv22) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Step != nil && ev.Step.Action == "rollback" && ev.Step.Phase == history.PhaseEnd:
		c.rolledBack = true
	case ev.Watch != nil:
		c.watch(ev)
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseBegin:
		c.stored = map[groupResource]map[string]map[string]int64{}
	case ev.Stored != nil && ev.Stored.Writer != "" && ev.Stored.Type == history.StoredPut:
		c.write(w, ev)
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd:
		for _, gr := range sortedResources(c.stored) {
			c.judge(w, ev, gr)
		}
		c.stored, c.rolledBack = nil, false
	}
}

func (c *sv22) watch(ev *history.Event) {
	if c.shown[ev.Member] == nil {
		c.shown[ev.Member] = map[string]view{}
	}
	switch {
	case ev.Watch.Type == history.WatchBroken:
		// What this member would show now is not known.
		c.shown[ev.Member] = map[string]view{}
	case ev.Watch.Type == "DELETED":
		c.shown[ev.Member][ev.Watch.Name] = view{seq: ev.Seq, gone: true}
	case ev.Watch.StorageVersion != nil:
		c.shown[ev.Member][ev.Watch.Name] = view{seq: ev.Seq, common: ev.Watch.StorageVersion.Common}
	}
}

func (c *sv22) write(w *World, ev *history.Event) {
	s := ev.Stored
	if c.stored == nil || w.hold == nil || s.Revision <= w.hold.revision {
		return
	}
	gr, ok := w.resource(s)
	if !ok || w.custom[gr] {
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

func (c *sv22) judge(w *World, ev *history.Event, gr groupResource) {
	written := map[string]int64{}
	for member := range ev.Hold.Releases {
		if len(c.stored[gr][member]) == 0 {
			return // what this member writes was not seen
		}
		maps.Copy(written, c.stored[gr][member])
	}
	name := objectName(gr.group, gr.resource)
	views := 0
	for _, member := range slices.Sorted(maps.Keys(ev.Hold.Releases)) {
		v, ok := c.shown[member][name]
		if !ok {
			continue
		}
		views++
		c.judgeView(ev, name, member, v, written)
	}
	if views < len(ev.Hold.Releases) {
		return
	}
	if len(written) > 1 {
		c.mixed++
		if c.rolledBack {
			c.afterRollback++
		}
		return
	}
	now := slices.Collect(maps.Keys(written))[0]
	if before, ok := c.agreedBefore[gr]; ok && before != now {
		c.finished++
	}
	c.agreedBefore[gr] = now
}

func (c *sv22) judgeView(ev *history.Event, name, member string, v view, written map[string]int64) {
	versions := slices.Sorted(maps.Keys(written))
	evidence := []int64{v.seq, ev.Seq}
	for _, version := range versions {
		evidence = append(evidence, written[version])
	}
	switch {
	case v.gone:
		c.violate(at(evidence...), "in hold %q the members write %s, but clients of %s see no %s", ev.Hold.Name, strings.Join(versions, " and "), member, name)
	case len(written) > 1 && v.common != nil:
		c.violate(at(evidence...), "in hold %q the members write %s, but clients of %s see %s agreed in %s",
			ev.Hold.Name, strings.Join(versions, " and "), member, *v.common, name)
	case len(written) == 1 && (v.common == nil || *v.common != versions[0]):
		c.violate(at(evidence...), "in hold %q all members write %s, but clients of %s see %s agreed in %s",
			ev.Hold.Name, versions[0], member, showCommon(v.common), name)
	}
}

func sortedResources(m map[groupResource]map[string]map[string]int64) []groupResource {
	return slices.SortedFunc(maps.Keys(m), func(a, b groupResource) int {
		if n := strings.Compare(a.group, b.group); n != 0 {
			return n
		}
		return strings.Compare(a.resource, b.resource)
	})
}

func (c *sv22) Finish(*World) {}

func (c *sv22) Observations() []Observation {
	return []Observation{
		{"holds in which members wrote different versions", c.mixed, needHolds},
		{"of them right after a rollback", c.afterRollback, needHolds},
		{"holds in which a version was written that had not been agreed before", c.finished, needHolds},
	}
}
