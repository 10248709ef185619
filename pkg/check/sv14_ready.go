package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv14: a server is not ready until it has registered, and once ready never
// answers with the barrier's 503 (KEP-2339: the post-start hook). A refusal
// after readiness counts only when the same process is ready before and after
// it, so that a server which honestly becomes unready is not blamed. Neither is
// one whose identity Lease had lapsed in between, as when it stood still or was
// cut off: it does not take part until it has joined and registered anew, which
// may be over before its readiness is asked again.
type sv14 struct {
	findings
	starts, after         int64
	startsEach, afterEach perMember
	states                perInstance[readyState]
	// waiting are refusals that count unless the etcd recorder, which may lag,
	// still tells of such a Lease.
	waiting []refusals
}

// refusals are those of one server between two ready answers.
type refusals struct {
	serverID string
	// after and before are the times of the two answers.
	after, before int64
	report        func()
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
	for len(c.waiting) > 0 && ev.Stored != nil && w.Now > c.waiting[0].until(w) {
		c.decide(w)
	}
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
		member, evidence := ev.Member, at(s.readySeq, s.seq, ev.Seq)
		c.waiting = append(c.waiting, refusals{in.server.id, st.last.at, ev.At, func() {
			c.infer(w, evidence, "%s was ready, refused %d writes because its registration was not complete, and was ready again", member, s.count)
		}})
	}
	st.suspect = suspect{}
	st.last = readyAnswer{ev.Ready.Code, ev.At, ev.Seq}
	if in.ready != nil && st.barred && !st.counted {
		st.counted = true
		c.starts++
		c.startsEach.add(w, ev.Member)
	}
}

// until is when the etcd recorder has told of every Lease that matters.
func (r refusals) until(w *World) int64 { return r.before + int64(w.aways.lag(r.before, w.Now)) }

// decide reports the refusals that have waited longest, unless the Lease excuses
// them.
func (c *sv14) decide(w *World) {
	oldest := c.waiting[0]
	c.waiting = c.waiting[1:]
	if !w.lapsed(oldest.serverID, oldest.after, oldest.until(w)) {
		oldest.report()
	}
}

// early compares, when a process's life is over, its first readiness with what
// it announced only later, or not at all.
func (c *sv14) early(w *World, in *instance, until int64) {
	if in.ready == nil || in.ready.revision == 0 || in.discovered == nil {
		return
	}
	hosted, announced := 0, 0
	for _, r := range in.discovered.Resources {
		if !guardedByBarrier(r) {
			continue // custom resources come and go while a server is ready
		}
		name := objectName(r.Group, r.Resource)
		change, ok := w.registration(in, name, until)
		if hosted++; w.mayHaveAnnounced(in, name, until) {
			announced++
		}
		if ok && change.revision > in.ready.revision {
			c.infer(w, at(in.ready.seq, change.seq), "%s was ready at revision %d and announced its version in %s only at revision %d",
				in.server.member, in.ready.revision, name, change.revision)
		}
	}
	// That some entry is missing is SV-01's.
	if hosted > 0 && announced == 0 && until >= in.ready.revision && !in.silent() {
		c.infer(w, at(in.ready.seq), "%s was ready at revision %d and never announced any version", in.server.member, in.ready.revision)
	}
}

func (c *sv14) Finish(w *World) {
	for len(c.waiting) > 0 {
		c.decide(w)
	}
	for _, in := range w.running() {
		c.early(w, in, w.Revision)
	}
}

func (c *sv14) Observations() []Observation {
	return []Observation{
		{What: "starts at which writes were refused before the server was ready", Seen: c.starts, Need: needReadyServers},
		c.startsEach.fewest("starts at which writes were refused before the server was ready", needReadyServers),
		{What: "guarded writes accepted by ready servers", Seen: c.after, Need: needWritesAfterReady},
		c.afterEach.fewest("guarded writes accepted by ready servers", needWritesEach),
	}
}
