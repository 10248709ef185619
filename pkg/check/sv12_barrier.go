package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv12: before it has registered, a server refuses guarded writes with 503
// (KEP-2339, updating StorageVersion). An accepted write must have a higher
// revision than the entry by which this process announced the resource. A
// restart that announces nothing new writes no entry and cannot be judged.
type sv12 struct {
	findings
	refusals, registrations int64
	open                    map[*instance]map[string]*barrierState
}

// barrierState is what one process did with writes to one resource until it
// had registered it.
type barrierState struct {
	// accepted is the accepted write with the lowest revision.
	acceptedRevision, acceptedSeq int64
	// odd is the first refusal that was not a 503, and when it came.
	oddCode       int
	oddAt, oddSeq int64
	refused       bool
	judged        bool
}

func newSV12() *sv12 { return &sv12{open: map[*instance]map[string]*barrierState{}} }

func (c *sv12) Observe(w *World, ev *history.Event) {
	r := ev.Request
	if r == nil || r.Class != history.ClassGuarded || r.Code == 0 {
		return
	}
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
	case accepted(r) && r.ResourceVersion > 0:
		if st.judged {
			return
		}
		if st.acceptedRevision == 0 || r.ResourceVersion < st.acceptedRevision {
			st.acceptedRevision, st.acceptedSeq = r.ResourceVersion, ev.Seq
		}
		revision, seq := r.ResourceVersion, ev.Seq
		w.when(revision, func() { c.judgeAccepted(w, in, name, st, revision, seq) })
	case r.Code >= 400 && oddRefusal(r.Code) && st.oddSeq == 0:
		st.oddCode, st.oddAt, st.oddSeq = r.Code, ev.At, ev.Seq
	}
}

// oddRefusal is whether a refusal can only stand in place of the barrier's
// 503. Load shedding, conflicts and objects that are gone are something else.
func oddRefusal(code int) bool {
	switch code {
	case 404, 409, 410, 429, 503, 504:
		return false
	}
	return true
}

func (c *sv12) state(in *instance, name string) *barrierState {
	byName := c.open[in]
	if byName == nil {
		byName = map[string]*barrierState{}
		c.open[in] = byName
	}
	st := byName[name]
	if st == nil {
		st = &barrierState{}
		byName[name] = st
	}
	return st
}

// judgeAccepted runs when etcd's history has reached the write's revision.
func (c *sv12) judgeAccepted(w *World, in *instance, name string, st *barrierState, revision, seq int64) {
	if _, ok := w.entryAt(name, in.server.id, revision); !ok {
		c.violate(at(seq), "%s accepted a write at revision %d although %s had no entry of %s", in.server.member, revision, name, in.server.id)
		return
	}
	c.judgeRegistration(w, in, name, st)
}

// judgeRegistration compares what was accepted and refused with the revision
// at which the process announced something new.
func (c *sv12) judgeRegistration(w *World, in *instance, name string, st *barrierState) {
	if st.judged {
		return
	}
	change, ok := w.registered(in, name)
	if !ok {
		return
	}
	st.judged = true
	if st.acceptedRevision > 0 && st.acceptedRevision < change.revision {
		c.violate(at(st.acceptedSeq, change.seq), "%s accepted a write at revision %d, before it announced %s in %s at revision %d",
			in.server.member, st.acceptedRevision, change.entry.Encoding, name, change.revision)
	}
	if st.oddSeq > 0 && st.oddAt+int64(recorderLag) < change.at {
		c.violate(at(st.oddSeq, change.seq), "%s refused a write with %d instead of 503, %v before it announced its version in %s",
			in.server.member, st.oddCode, time.Duration(change.at-st.oddAt).Round(time.Millisecond), name)
	}
	if st.refused {
		c.registrations++
	}
}

func (c *sv12) Finish(w *World) {
	for in, byName := range c.open {
		for name, st := range byName {
			c.judgeRegistration(w, in, name, st)
		}
	}
}

func (c *sv12) Observations() []Observation {
	return []Observation{
		{"guarded writes refused by a server that had not registered", c.refusals, needBarrierRefusals},
		{"registrations of a new version, refusing before and judged by the writes accepted after", c.registrations, needRegistrations},
	}
}
