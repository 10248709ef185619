package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// leavesNone is a law by which each object that fits is stored, when a migration has
// succeeded, in the version that objects are to be in.
func leavesNone(which string, fits func(*Migration, *Change) bool, tags ...string) law.Law[*Facts] {
	return each[*Migration]{Over: those((*Migration).Succeeded), End: func(m *Migration, _ law.Bounds) law.Entry {
		return m.leaves(which, func(c *Change) bool { return fits(m, c) }, tags...)
	}}
}

// leaves judges a success by the objects that fit.
func (m *Migration) leaves(which string, fits func(*Change) bool, tags ...string) law.Entry {
	switch r := m.left(fits); {
	case len(r.left) > 0:
		return m.ended().Broken("migration %s succeeded at revision %d, and %d objects %s are not stored as %s, the first one being %s %s, which is stored as %s",
			m.Name, m.Ended.Revision, len(r.left), which, r.target, m.Of.Name, r.left[0].Object.Name, r.left[0].Version()).Shown(evidenceOf(m.Ended.Seq, r.left)...).Owed(r.sure)
	case r.target == "" && r.compared > 0:
		return m.ended().Unclear("it succeeded when the servers agreed on no version, so that what it did cannot be compared with any")
	default:
		return tally(m.ended(), r.compared, tags...)
	}
}

// rest is what a migration which succeeded has left.
type rest struct {
	// target is the version that objects are to be in.
	target   string
	compared int64
	// left are the objects that it has not left as they are to be, and sure is whether there
	// certainly are any.
	left []*Change
	sure fact.Truth
}

// left is what a migration which succeeded has left. Where it is not certain whether a change of the
// agreement came while its success was being written, what is as it has to be for one of the two may
// not be for the other.
func (m *Migration) left(fits func(*Change) bool) rest {
	changed := m.changedAtEnd()
	if changed != fact.Unknown {
		return m.leftAfter(changed == fact.Yes, fits)
	}
	out, other := m.leftAfter(true, fits), m.leftAfter(false, fits)
	if len(out.left) == 0 {
		out, other = other, out
	}
	out.sure = max(fact.Of(len(other.left) > 0), fact.Unknown)
	return out
}

// leftAfter goes by whether the agreement changed while the success was being written. Left are
// those that existed at the end and fit, and are in another version than the one that
// objects are to be in; without any agreement, in one that no server stores. What users
// wrote in a version that was agreed on while the success was being written is not what it
// left.
func (m *Migration) leftAfter(changed bool, fits func(*Change) bool) rest {
	now, r := m.agreement(m.Of, m.Ended.Revision), rest{target: m.finishedAfter(changed), sure: fact.Yes}
	for _, c := range m.population(m.Of).at(m.Ended.Revision) {
		version := c.Version()
		switch {
		case !fits(c):
		case version == r.target, r.target == "" && (len(now.Is.Encodings) == 0 || slices.Contains(now.Is.Encodings, version)):
			r.compared++
		case changed && c.tagged() && c.Revision > now.Revision && now.Is.Version != "" && version == now.Is.Version:
		default:
			r.left = append(r.left, c)
		}
	}
	return r
}

// survives ends an obligation to come to a success in spite of something that happened
// while the migration ran; met ends it if it did. To fail for want of an agreement, or because a
// write was refused, is right, and excuses nothing of what had not come of it before that.
func (m *Migration) survives(at fact.Moment, after string, met func(law.Entry) law.Entry) law.Entry {
	e := law.Of(m.Name, at)
	if m.Succeeded() {
		return met(e)
	}
	failed := m.unended(at, after)
	switch {
	case m.Failed() && m.refused():
		failed = m.stuck(m.lastProgress(m.end().Revision), m.end(), at, after)
	case m.Failed():
		failed = e.Broken("migration %s failed (%s)%s, with %s", m.Name, m.reason(), after, m.standing()).Shown(at.Seq, m.Ended.Seq)
	}
	if failed = failed.Owed(m.held()); failed.Ending != "" {
		return failed
	}
	if stuck := m.stuckBeforeLoss(at, after); stuck.Ending != "" {
		return stuck
	}
	return e.Excused("the servers' agreement was lost, nothing tells of it, or a fault refused a write")
}

// unended ends the obligation of a migration that has not ended: whether nothing came of it
// for longer than a controller that works takes.
func (m *Migration) unended(at fact.Moment, after string) law.Entry {
	e := m.stuck(m.lastProgress(m.end().Revision), m.end(), at, after)
	switch {
	case e.Ending != "":
		return e
	case was(m.Gone):
		return e.Excused("it was deleted before it ended")
	case m.ManagerAble().At(m.Now) == fact.No:
		return e.Excused("no controller could migrate at the end of the history")
	}
	return e.Open("the history ended before the migration did")
}

// stuckBeforeLoss ends the obligation of a migration of which nothing had come for too long when
// its servers ceased to agree, after what happened to it. Any other one it leaves without an ending.
func (m *Migration) stuckBeforeLoss(at fact.Moment, after string) law.Entry {
	for _, l := range m.losses() {
		if m.When(l.from).Before(at) == fact.Yes {
			continue
		}
		if e := m.stuck(m.lastProgress(l.from.Revision), l.from, at, after); e.Ending != "" {
			return e
		}
	}
	return law.Entry{}
}

// stuck ends the obligation of a migration of which nothing came between two of its steps for
// longer than a controller that works takes, in the time in which the servers agree: while they do
// not the clock stands, and it goes on when they do again. Any other one it leaves without an ending.
func (m *Migration) stuck(progress, until fact.Stamp, at fact.Moment, after string) law.Entry {
	allowed, end := goesOnWithin()+m.passesDone(progress, until), m.over()
	if until.Seq != m.end().Seq {
		end = m.When(until)
	}
	e := law.Of(m.Name, at).Shown(at.Seq, progress.Seq)
	e.Least, e.Most = lasted(fact.And(m.clock(), m.inAgreement()), m.When(progress), end)
	switch {
	case e.Least > allowed:
		e.Ending, e.Why = law.Late, fmt.Sprintf("migration %s has not ended%s, and nothing came of it for %v or longer", m.Name, after, allowed.Round(time.Second))
	case e.Most > allowed:
		return e.Unclear("it is not certain whether anything came of it in time")
	}
	return e
}
