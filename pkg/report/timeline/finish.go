package timeline

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// finish makes the picture of what was collected.
func (c *collector) finish() {
	c.picture.End = c.now
	c.steps.end(c.now)
	c.holds.end(c.now)
	c.hashes.end(c.now)
	run := group{Name: "The run"}
	for _, l := range []lane{{Name: "steps", Spans: c.steps.spans}, {Name: "holds", Spans: c.holds.spans}} {
		if len(l.Spans) > 0 {
			run.Lanes = append(run.Lanes, l)
		}
	}
	run.Lanes = append(run.Lanes, c.faultLanes()...)
	if c.balancer.seen() {
		run.Lanes = append(run.Lanes, lane{Name: "load balancer", Marks: c.balancer.marks(), Density: c.balancer.density(c.now)})
	}
	if len(c.hashes.spans) > 0 {
		run.Lanes = append(run.Lanes, lane{Name: "etcd's data", Spans: c.hashes.spans})
	}
	if len(c.gaps) > 0 {
		run.Lanes = append(run.Lanes, lane{Name: "gaps", Marks: c.gaps})
	}
	c.add(c.findings())
	c.add(run)
	for _, g := range c.memberGroups() {
		c.add(g)
	}
	always := func(*track) bool { return true }
	leaders, _ := c.lanesOf(&c.leases, always)
	c.add(group{Name: "Leaders", Lanes: leaders})
	// Each becomes agreed once, while the control plane boots.
	agreed, steady := c.lanesOf(&c.agreed, func(t *track) bool { return t.changes > 1 })
	c.add(group{Name: "Agreed storage versions", Lanes: agreed})
	c.add(group{Name: "Storage versions that stayed as they were", Lanes: steady, Folded: true})
	migrations, _ := c.lanesOf(&c.migrations, always)
	c.add(group{Name: "Migrations", Lanes: migrations})
}

func (c *collector) add(g group) {
	if len(g.Lanes) > 0 {
		c.picture.Groups = append(c.picture.Groups, g)
	}
}

// findings has a lane for each requirement that was not simply kept, with a mark
// for each event that shows why.
func (c *collector) findings() group {
	out := group{Name: "Findings"}
	for _, res := range c.report.Results {
		var marks []mark
		for _, v := range res.Violations {
			if i := c.shows(v); i >= 0 {
				c.picture.Findings = append(c.picture.Findings, v.Evidence[i])
			}
			marks = append(marks, c.marksOf(v, markBreach)...)
		}
		for _, d := range res.Deviations {
			for _, v := range d.Examples {
				marks = append(marks, c.marksOf(v, markDeviation)...)
			}
		}
		if len(marks) > 0 {
			slices.SortStableFunc(marks, func(a, b mark) int { return int(a.Seq - b.Seq) })
			marks = slices.CompactFunc(marks, func(a, b mark) bool { return a.Seq == b.Seq })
			out.Lanes = append(out.Lanes, lane{Name: string(res.ID), Marks: marks})
		}
	}
	slices.Sort(c.picture.Findings)
	c.picture.Findings = slices.Compact(c.picture.Findings)
	return out
}

// shows is which of the events of a breach it shows in: the last of those that
// the history has; -1 if it has none.
func (c *collector) shows(v check.Violation) int {
	best := -1
	for i, seq := range v.Evidence {
		if c.evidence[seq] != nil && (best < 0 || seq > v.Evidence[best]) {
			best = i
		}
	}
	return best
}

func (c *collector) marksOf(v check.Violation, style int) []mark {
	var out []mark
	for _, seq := range v.Evidence {
		if m := c.evidence[seq]; m != nil {
			out = append(out, mark{m.at, style, seq, 1})
		}
	}
	return out
}
