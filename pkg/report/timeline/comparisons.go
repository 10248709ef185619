package timeline

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// comparisons are what a member answered held against etcd, and against what other members
// acknowledged.
type comparisons struct {
	reads, visibility requests
	custom            track
}

func (c *collector) comparisonsOf(member string) *comparisons {
	if c.compared[member] == nil {
		c.compared[member] = &comparisons{}
	}
	return c.compared[member]
}

// takeRead marks an answer that is not what etcd holds, or is none.
func (c *collector) takeRead(ev *history.Event) {
	code := 200
	if !ev.Read.Agrees() && !ev.Read.NotServed && (ev.Read.Code != 200 || ev.Read.Compared) {
		code = 500
	}
	c.comparisonsOf(ev.Member).reads.take(c.now, ev.Seq, code, false)
}

// takeVisibility marks a write of another member that was not shown, or late.
func (c *collector) takeVisibility(ev *history.Event) {
	v, code := ev.Visibility, 200
	watched := v.Watch.Sent > 0 && v.Watch.Error == ""
	if v.Get.Stale || v.List.Stale || !v.Get.Shows(v.ResourceVersion) || !v.List.Shows(v.ResourceVersion) || watched && !v.Watch.Shows(v.ResourceVersion) {
		code = 500
	}
	c.comparisonsOf(ev.Member).visibility.take(c.now, ev.Seq, code, false)
}

// takeCustom shows what an API server answered about custom resources while it started.
func (c *collector) takeCustom(ev *history.Event) {
	a, style := ev.CustomResourceAnswer, styleServed
	text := fmt.Sprintf("%s.%s answered with %d", a.Resource, a.Group, a.Code)
	if a.Code != 200 {
		style = styleUnserved
	}
	if a.Ready == 200 {
		text += ", ready"
		if a.Code == 404 {
			style = styleMissing
		}
	} else {
		text += ", not ready"
	}
	track := &c.comparisonsOf(ev.Member).custom
	track.set(c.now, ev.Seq, style, 0, c.text("%s", text))
}

// takeHash shows whether all members' etcd hold the same.
func (c *collector) takeHash(ev *history.Event) {
	hashes, silent := map[string]bool{}, []string{}
	compacted := map[int64]bool{}
	for _, m := range ev.EtcdHash.Members {
		if m.Error != "" {
			silent = append(silent, m.Member)
			continue
		}
		hashes[m.Hash], compacted[m.Compacted] = true, true
	}
	switch {
	case len(compacted) > 1:
		c.hashes.set(c.now, ev.Seq, styleIncomparable, 0, c.text("the hashes cannot be compared, since members have compacted their history to different revisions"))
	case len(hashes) > 1:
		c.hashes.set(c.now, ev.Seq, styleDiffering, 0, c.text("members hold different data at revision %d", ev.EtcdHash.Revision))
	case len(silent) > 0:
		c.hashes.set(c.now, ev.Seq, styleIncomparable, 0, c.text("no hash from %s", strings.Join(silent, ", ")))
	default:
		c.hashes.set(c.now, ev.Seq, styleSame, 0, c.text("all members hold the same"))
	}
}

// lanes are those that have something in them.
func (m *comparisons) lanes(end int64) []lane {
	var out []lane
	for _, one := range []struct {
		name string
		of   *requests
	}{{"reads against etcd", &m.reads}, {"writes of others shown", &m.visibility}} {
		if one.of.seen() {
			out = append(out, lane{Name: one.name, Marks: one.of.marks(), Density: one.of.density(end)})
		}
	}
	if m.custom.end(end); len(m.custom.spans) > 0 {
		out = append(out, lane{Name: "custom resources at start", Spans: m.custom.spans})
	}
	return out
}
