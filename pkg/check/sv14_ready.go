package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv14: a server is not ready until it has registered, and once ready never
// answers with the barrier's 503 (KEP-2339: the post-start hook). A refusal
// after readiness counts only when the same process is ready before and after
// it, so that a server which honestly becomes unready is not blamed.
type sv14 struct {
	findings
	starts, after int64
	barred        map[*instance]bool
	counted       map[*instance]bool
	lastReady     map[*instance]readyAnswer
	suspects      map[*instance]suspect
}

type readyAnswer struct {
	code    int
	at, seq int64
}

type suspect struct {
	seq, readySeq int64
	count         int
}

func newSV14() *sv14 {
	return &sv14{
		barred: map[*instance]bool{}, counted: map[*instance]bool{},
		lastReady: map[*instance]readyAnswer{}, suspects: map[*instance]suspect{},
	}
}

func (c *sv14) Observe(w *World, ev *history.Event) {
	if ev.Request == nil && ev.Ready == nil {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	if ev.Ready != nil {
		c.ready(w, in, ev)
		return
	}
	r := ev.Request
	if r.Class != history.ClassGuarded || r.Code == 0 {
		return
	}
	last := c.lastReady[in]
	switch {
	case r.Barrier && last.code == 200 && ev.From >= last.at:
		s := c.suspects[in]
		if s.count == 0 {
			s.seq, s.readySeq = ev.Seq, last.seq
		}
		s.count++
		c.suspects[in] = s
	case r.Barrier:
		if in.ready == nil {
			c.barred[in] = true
		}
	case last.code == 200 && ev.From >= last.at:
		c.after++
	}
}

func (c *sv14) ready(w *World, in *instance, ev *history.Event) {
	if s := c.suspects[in]; s.count > 0 {
		if ev.Ready.Code == 200 {
			c.violate(at(s.readySeq, s.seq, ev.Seq), "%s was ready, refused %d writes because its registration was not complete, and was ready again", ev.Member, s.count)
		}
		delete(c.suspects, in)
	}
	c.lastReady[in] = readyAnswer{ev.Ready.Code, ev.At, ev.Seq}
	if in.ready == nil || in.ready.seq != ev.Seq {
		return
	}
	if c.barred[in] && !c.counted[in] {
		c.counted[in] = true
		c.starts++
	}
	if in.ready.revision > 0 {
		ready := *in.ready
		w.when(ready.revision, func() { c.early(w, in, ready) })
	}
}

// early compares the first readiness with entries that the process announced
// only later. It looks again at the end, when they have all been seen.
func (c *sv14) early(w *World, in *instance, ready readiness) {
	for name, v := range w.versions {
		change, ok := w.registered(in, name)
		if ok && change.revision > ready.revision {
			c.violate(at(ready.seq, v.seq), "%s was ready at revision %d and announced its version in %s only at revision %d",
				in.server.member, ready.revision, name, change.revision)
		}
	}
}

func (c *sv14) Finish(w *World) {
	for _, srv := range w.servers {
		for _, in := range srv.instances {
			if in.ready != nil && in.ready.revision > 0 && in.ready.revision <= w.Revision {
				c.early(w, in, *in.ready)
			}
		}
	}
}

func (c *sv14) Observations() []Observation {
	return []Observation{
		{"starts at which writes were refused before the server was ready", c.starts, needReadyServers},
		{"guarded writes answered by ready servers", c.after, needWritesAfterReady},
	}
}
