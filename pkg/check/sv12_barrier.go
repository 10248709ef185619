package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv12: before it has registered, a server refuses guarded writes with 503
// (KEP-2339, updating StorageVersion). An accepted write must have a higher
// revision than the entry by which this process announced the resource. A
// restart that announces nothing new writes no entry and cannot be judged.
type sv12 struct {
	findings
	refusals, registrations int64
	open                    perInstance[map[string]*barrierState]
}

func newSV12() *sv12 { return &sv12{} }

// barrierState is what one process did with writes to one resource.
type barrierState struct {
	// acceptedRevision is the lowest of the writes that it accepted.
	acceptedRevision, acceptedSeq int64
	// held is whether an accepted write was found to follow some entry of the
	// server in this process's life; the writes after it do so too.
	held bool
	// blamed is whether an accepted write was found without one.
	blamed  bool
	refused bool
	odd     oddRefusal
}

// oddRefusal is the first refusal in place of a 503, by another code.
type oddRefusal struct {
	code    int
	at, seq int64
	// behind is whether a 503 of the barrier came on a write sent later.
	behind bool
	// next is the lowest revision of a write that anybody sent later.
	next int64
}

func (c *sv12) Observe(w *World, ev *history.Event) {
	if before, until := w.replaced(ev); before != nil {
		if states := c.open.take(before); states != nil {
			w.when(until, func() { c.judge(w, before, *states, until) })
		}
	}
	r := ev.Request
	if r == nil || r.Class != history.ClassGuarded || r.Code == 0 {
		return
	}
	revision := writtenAt(r)
	c.follow(w, ev, revision)
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	name := objectName(r.Group, r.Resource)
	st := c.state(in, name)
	switch {
	case r.Barrier:
		c.refusals++
		st.refused = true
		st.odd.behind = st.odd.behind || st.odd.seq > 0 && ev.From >= st.odd.at
	case revision > in.startRevision:
		if st.acceptedRevision == 0 || revision < st.acceptedRevision {
			st.acceptedRevision, st.acceptedSeq = revision, ev.Seq
		}
		if !st.held {
			seq := ev.Seq
			w.when(revision, func() { c.judgeAccepted(w, in, name, st, revision, seq) })
		}
	case st.odd.seq == 0 && odd(r.Code):
		st.odd = oddRefusal{code: r.Code, at: ev.At, seq: ev.Seq}
	}
}

// writtenAt is the revision that an accepted write made, 0 for anything else.
// The answer to a delete has the revision of what was deleted.
func writtenAt(r *history.Request) int64 {
	if !accepted(r) || r.Verb == "delete" {
		return 0
	}
	return r.ResourceVersion
}

// odd is whether a refusal can only stand in place of the barrier's 503. Load
// shedding, conflicts and objects that are gone are something else.
func odd(code int) bool {
	switch code {
	case 404, 409, 410, 429, 503, 504:
		return false
	}
	return code >= 400
}

func (c *sv12) state(in *instance, name string) *barrierState {
	states := c.open.of(in)
	if *states == nil {
		*states = map[string]*barrierState{}
	}
	st := (*states)[name]
	if st == nil {
		st = &barrierState{}
		(*states)[name] = st
	}
	return st
}

// follow notes writes that were sent after an odd refusal: what they made in
// etcd came after it.
func (c *sv12) follow(w *World, ev *history.Event, revision int64) {
	if revision == 0 {
		return
	}
	for _, s := range c.open.slots {
		for _, st := range s.kept {
			if st.odd.seq > 0 && ev.From >= st.odd.at && (st.odd.next == 0 || revision < st.odd.next) {
				st.odd.next = revision
			}
		}
	}
}

// judgeAccepted runs when etcd's history has reached the write's revision.
func (c *sv12) judgeAccepted(w *World, in *instance, name string, st *barrierState, revision, seq int64) {
	if w.heldDuring(in, name, revision, func(history.Entry) bool { return true }) {
		st.held = true
		return
	}
	st.blamed = true
	c.infer(w, at(seq), "%s accepted a write at revision %d although %s had no entry of %s", in.server.member, revision, name, in.server.id)
}

// judge compares, when a process's life is over, what it accepted and refused
// with the revision at which it announced something new.
func (c *sv12) judge(w *World, in *instance, states map[string]*barrierState, until int64) {
	for _, name := range sortedKeys(states) {
		st := states[name]
		change, ok := w.registration(in, name, until)
		if !ok {
			continue
		}
		if st.acceptedRevision > 0 && st.acceptedRevision < change.revision && !st.blamed {
			c.infer(w, at(st.acceptedSeq, change.seq), "%s accepted a write at revision %d, before it announced %s in %s at revision %d",
				in.server.member, st.acceptedRevision, change.entry.Encoding, name, change.revision)
		}
		if st.odd.early(change) {
			c.infer(w, at(st.odd.seq, change.seq), "%s refused a write with %d instead of 503, before it announced its version in %s",
				in.server.member, st.odd.code, name)
		}
		if st.refused && st.acceptedRevision > 0 {
			c.registrations++
		}
	}
}

// early is whether the refusal certainly came before a change in etcd: the
// barrier was seen to be shut later, or something was written in between, or
// the change was told so much later that no recorder lags that far.
func (o oddRefusal) early(change entryChange) bool {
	return o.seq > 0 && (o.behind || o.next > 0 && o.next < change.revision || change.at-o.at > int64(recorderLag))
}

func (c *sv12) Finish(w *World) {
	for _, in := range w.running() {
		if states := c.open.take(in); states != nil {
			c.judge(w, in, *states, w.Revision)
		}
	}
}

func (c *sv12) Observations() []Observation {
	return []Observation{
		{"guarded writes refused by a server that had not registered", c.refusals, needBarrierRefusals},
		{"registrations of a new version, refusing before and judged by the writes accepted after", c.registrations, needRegistrations},
	}
}
