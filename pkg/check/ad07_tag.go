package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad07: the ETag follows from the content alone: equal on all servers and across
// restarts, different when the content differs (KEP-3352, caching).
type ad07 struct {
	findings
	// bodies are the tags of bodies, and tags what was told under each.
	bodies map[string]*tagged
	tags   map[string]*tagged
	latest map[string]string // body by member
	// common, restarted and returned count bodies that all members had, that a
	// member had before and after a restart, and that it came back to.
	common, restarted, returned int64
	complained                  once
}

// tagged is a body or a tag with what it was seen with first.
type tagged struct {
	other string
	seq   int64
	// members that had it, by the last process that did.
	members map[string]*instance
	counted bool
}

func newAD07() *ad07 {
	return &ad07{bodies: map[string]*tagged{}, tags: map[string]*tagged{}, latest: map[string]string{}}
}

func (c *ad07) Observe(w *World, ev *history.Event) {
	d := ev.Document
	if d == nil || d.Code != 200 || d.IfNoneMatch != "" || d.Accept != askedJSON || d.Path != corePath && d.Path != groupsPath {
		return
	}
	if d.ETag == "" {
		if c.complained.first(ev.Member) {
			c.violate(at(ev.Seq), "%s gives the aggregated document at %s no ETag", ev.Member, d.Path)
		}
		return
	}
	body := c.bodies[d.Digest]
	if body == nil {
		body = &tagged{other: d.ETag, seq: ev.Seq, members: map[string]*instance{}}
		c.bodies[d.Digest] = body
	}
	if body.other != d.ETag && c.complained.first(d.Digest+ev.Member) {
		c.infer(w, at(body.seq, ev.Seq), "%s gives the tag %s to a document at %s that has the tag %s elsewhere or at another time", ev.Member, d.ETag, d.Path, body.other)
	}
	tag := c.tags[d.ETag]
	if tag == nil {
		tag = &tagged{other: d.Content, seq: ev.Seq}
		c.tags[d.ETag] = tag
	}
	if tag.other != d.Content && c.complained.first(d.ETag+ev.Member) {
		c.infer(w, at(tag.seq, ev.Seq), "%s gives the tag %s at %s to a document that says something else than what had it before", ev.Member, d.ETag, d.Path)
	}
	c.count(w, ev, body)
}

func (c *ad07) count(w *World, ev *history.Event, body *tagged) {
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	before, had := body.members[ev.Member]
	if had && before != in {
		c.restarted++
	}
	body.members[ev.Member] = in
	if ev.Document.Path == groupsPath {
		if had && c.latest[ev.Member] != ev.Document.Digest {
			c.returned++
		}
		c.latest[ev.Member] = ev.Document.Digest
	}
	if len(body.members) == len(w.order) && !body.counted {
		body.counted = true
		c.common++
	}
}

func (c *ad07) Finish(*World) {}

func (c *ad07) Observations() []Observation {
	return []Observation{
		{What: "different tags", Seen: int64(len(c.tags)), Need: needDocuments + 1}, // one more than the paths
		{What: "documents that every member had", Seen: c.common, Need: needCommon},
		{What: "documents that a member had before and after a restart", Seen: c.restarted, Need: needCommon},
		{What: "documents that a member came back to", Seen: c.returned, Need: needCommon},
	}
}
