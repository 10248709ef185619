package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad15: at the first moment of readiness all built-in and custom group-versions
// are present and current (KEP-3352: the health check waits for local servers).
// The document of that moment is compared with what the harness had defined by
// then, and with what the same process said later, when all was quiet.
type ad15 struct {
	findings
	firsts perInstance[firstLook]
	// prompt are first looks of whole processes, custom the custom resources in
	// them, and whole those that were compared with a later one.
	prompt, whole tally
	custom        int64
}

// firstLook is the first document of a process that was ready.
type firstLook struct {
	listing  *history.Listing
	seq      int64
	compared bool
	// denied is whether the process was asked before and gave another answer.
	denied bool
}

func (c *ad15) Observe(w *World, ev *history.Event) {
	if s := w.docs.swept; s != nil {
		c.compare(w, s)
	}
	d := ev.Document
	if d == nil || d.Path != groupsPath || d.IfNoneMatch != "" || d.Accept != askedJSON || d.Code == 0 {
		return
	}
	since, ok := w.docs.knows(w, ev)
	in := w.instanceAt(ev.Member, ev)
	if !ok || in == nil {
		return
	}
	first := c.firsts.of(in)
	if first.listing != nil {
		return
	}
	if d.Code != 200 {
		if d.Code >= 400 && d.Code < 500 && !busy(d) && !first.denied {
			c.infer(w, at(in.startSeq, ev.Seq), "%s was ready and answered %d in the place of the document", ev.Member, d.Code)
		}
		first.denied = true
		return
	}
	listing := w.docs.listing(d)
	if listing == nil {
		return
	}
	first.listing, first.seq = listing, ev.Seq
	if ev.From <= since+int64(firstMoment) && !first.denied {
		c.prompt.add(w, ev.Member)
	}
	for _, one := range w.docs.wants {
		// Servers have to agree first on whether a resource can be hosted.
		if one.remote || one.until == 0 || one.until+int64(definitionShows) > in.startedAt {
			continue
		}
		if wrong := w.docs.missing(listing, one); wrong != "" {
			c.infer(w, at(one.seq, in.startSeq, ev.Seq), "%s was ready and %s, which was defined before it started", ev.Member, wrong)
			continue
		}
		if len(one.versions) > 0 {
			c.custom++
		}
	}
}

// compare looks in the first document for what the same process hosts later.
func (c *ad15) compare(w *World, s *sweep) {
	document, ok := s.steady(groupsPath)
	if !ok || !s.settled || s.in != w.servers[s.member].current() {
		return
	}
	first := c.firsts.of(s.in)
	later := w.docs.listing(document.Document)
	if first.listing == nil || later == nil || first.compared {
		return
	}
	first.compared = true
	for _, group := range later.Groups {
		if w.docs.defined(group.Name) {
			continue
		}
		for _, version := range group.Versions {
			name := named(group.Name, version.Version)
			found := versionIn(first.listing, group.Name, version.Version)
			wrong := ""
			switch {
			case found == nil:
				wrong = "did not list it"
			case found.Freshness != history.FreshnessCurrent:
				wrong = fmt.Sprintf("called it %q", found.Freshness)
			case found.Inventory != version.Inventory:
				wrong = "listed other resources in it"
			}
			if wrong != "" && !w.isForeign(s.member, group.Name, version.Version, s.from) {
				w.unlessForeign(s.member, group.Name, version.Version, func() {
					c.infer(w, at(s.in.startSeq, first.seq, document.Seq), "%s hosts %s, and when it was ready first it %s", s.member, name, wrong)
				})
			}
		}
	}
	c.whole.add(w, s.member)
}

func (c *ad15) Finish(*World) {}

func (c *ad15) Observations() []Observation {
	return []Observation{
		{What: "looks at the member with the fewest right after it was ready", Seen: c.prompt.least(), Need: needSweeps},
		{What: "processes of the member with the fewest whose first document was compared with a later one", Seen: c.whole.least(), Need: needSweeps},
		{What: "custom resources that a starting server had to know", Seen: c.custom, Need: needFirstLooks},
	}
}
