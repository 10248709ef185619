package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv14: a server is not ready until it has registered, and once ready never
// answers with the barrier's 503 (KEP-2339: the post-start hook). A refusal
// after readiness counts only when the same process is ready before and after
// it, so that a server which honestly becomes unready is not blamed.
type sv14 struct {
	findings
	starts, after         int64
	startsEach, afterEach perMember
	states                perInstance[readyState]
}

// readyState is what was seen of one process.
type readyState struct {
	// barred is whether it refused writes before it was ready; counted whether
	// that was noted.
	barred, counted bool
	// last is the latest answer of its readiness.
	last readyAnswer
	// suspect are refusals since the last ready answer.
	suspect suspect
}

type readyAnswer struct {
	code    int
	at, seq int64
}

type suspect struct {
	seq, readySeq int64
	count         int
}

func newSV14() *sv14 { return &sv14{} }

func (c *sv14) Observe(w *World, ev *history.Event) {
	if before, until := w.replaced(ev); before != nil {
		w.when(until, func() { c.early(w, before, until) })
		return
	}
	if ev.Request == nil && ev.Ready == nil {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	st := c.states.of(in)
	if ev.Ready != nil {
		c.ready(w, ev, in, st)
		return
	}
	r := ev.Request
	if r.Class != history.ClassGuarded || r.Code == 0 {
		return
	}
	isReady := st.last.code == 200 && ev.From >= st.last.at
	switch {
	case r.Barrier && isReady:
		if st.suspect.count == 0 {
			st.suspect.seq, st.suspect.readySeq = ev.Seq, st.last.seq
		}
		st.suspect.count++
	case r.Barrier:
		st.barred = st.barred || in.ready == nil
	case isReady && accepted(r):
		c.after++
		c.afterEach.add(w, ev.Member)
	}
}

func (c *sv14) ready(w *World, ev *history.Event, in *instance, st *readyState) {
	if s := st.suspect; s.count > 0 && ev.Ready.Code == 200 {
		c.infer(w, at(s.readySeq, s.seq, ev.Seq), "%s was ready, refused %d writes because its registration was not complete, and was ready again", ev.Member, s.count)
	}
	st.suspect = suspect{}
	st.last = readyAnswer{ev.Ready.Code, ev.At, ev.Seq}
	if in.ready != nil && st.barred && !st.counted {
		st.counted = true
		c.starts++
		c.startsEach.add(w, ev.Member)
	}
}

// early compares, when a process's life is over, its first readiness with what
// it announced only later.
func (c *sv14) early(w *World, in *instance, until int64) {
	if in.ready == nil || in.ready.revision == 0 || in.discovered == nil {
		return
	}
	for _, r := range in.discovered.Resources {
		if !guardedByBarrier(r) {
			continue // custom resources come and go while a server is ready
		}
		name := objectName(r.Group, r.Resource)
		if change, ok := w.registration(in, name, until); ok && change.revision > in.ready.revision {
			c.infer(w, at(in.ready.seq, change.seq), "%s was ready at revision %d and announced its version in %s only at revision %d",
				in.server.member, in.ready.revision, name, change.revision)
		}
	}
}

func (c *sv14) Finish(w *World) {
	for _, in := range w.running() {
		c.early(w, in, w.Revision)
	}
}

func (c *sv14) Observations() []Observation {
	return []Observation{
		{"starts at which writes were refused before the server was ready", c.starts, needReadyServers},
		c.startsEach.fewest("starts at which writes were refused before the server was ready", needReadyServers),
		{"guarded writes accepted by ready servers", c.after, needWritesAfterReady},
		c.afterEach.fewest("guarded writes accepted by ready servers", needWritesEach),
	}
}
