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
	compared, left := m.left(fits)
	switch target := m.finished(); {
	case len(left) > 0:
		return m.ended().Broken("migration %s succeeded at revision %d, and %d objects %s are not stored as %s, the first one being %s %s, which is stored as %s",
			m.Name, m.Ended.Revision, len(left), which, target, m.Of.Name, left[0].Object.Name, left[0].Version()).Shown(evidenceOf(m.Ended.Seq, left)...)
	case target == "" && compared > 0:
		return m.ended().Unclear("it succeeded when the servers agreed on no version, so that what it did cannot be compared with any")
	}
	return tally(m.ended(), compared, tags...)
}

// left are the objects that a migration which succeeded has not left as they are to be:
// those that existed at the end and fit, and are in another version than the one that
// objects are to be in; without any agreement, in one that no server stores. What users
// wrote in a version that was agreed on while the success was being written is not what it
// left.
func (m *Migration) left(fits func(*Change) bool) (compared int64, left []*Change) {
	now, target, changed := m.agreement(m.Of, m.Ended.Revision), m.finished(), m.changedAtEnd()
	for _, c := range m.population(m.Of).at(m.Ended.Revision) {
		version := c.Version()
		switch {
		case !fits(c):
		case version == target, target == "" && (len(now.Is.Encodings) == 0 || slices.Contains(now.Is.Encodings, version)):
			compared++
		case changed && c.tagged() && c.Revision > now.Revision && now.Is.Version != "" && version == now.Is.Version:
		default:
			left = append(left, c)
		}
	}
	return compared, left
}

// survives ends an obligation to come to a success in spite of something that happened
// while the migration ran; met ends it if it did. To fail for want of an agreement is right, and
// excuses nothing of what had not come of it before that.
func (m *Migration) survives(at fact.Moment, after string, met func(law.Entry) law.Entry) law.Entry {
	e := law.Of(m.Name, at)
	switch {
	case m.Succeeded():
		return met(e)
	case !m.held():
		if stuck := m.stuckBeforeLoss(at, after); stuck.Ending != "" {
			return stuck
		}
		return e.Excused("the servers' agreement was lost, or nothing tells of it")
	case m.Failed():
		return e.Broken("migration %s failed (%s)%s, with %s", m.Name, m.reason(), after, m.standing()).Shown(at.Seq, m.Ended.Seq)
	}
	return m.unended(at, after)
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
	agreed := m.Started
	for _, l := range m.losses() {
		if l.from.Revision > m.Started.Revision && m.When(l.from).Before(at) != fact.Yes {
			since := m.lastProgress(l.from.Revision)
			if since.Revision < agreed.Revision {
				since = agreed
			}
			if e := m.stuck(since, l.from, at, after); e.Ending != "" {
				return e
			}
		}
		agreed = l.back
	}
	return law.Entry{}
}

// stuck ends the obligation of a migration of which nothing came between two of its steps for
// longer than a controller that works takes. Any other one it leaves without an ending.
func (m *Migration) stuck(progress, until fact.Stamp, at fact.Moment, after string) law.Entry {
	allowed, end := goesOnWithin()+m.passesDone(progress, until), m.over()
	if until.Seq != m.end().Seq {
		end = m.When(until)
	}
	e := law.Of(m.Name, at).Shown(at.Seq, progress.Seq)
	e.Least, e.Most = lasted(m.clock(), m.When(progress), end)
	switch {
	case e.Least > allowed:
		e.Ending, e.Why = law.Late, fmt.Sprintf("migration %s has not ended%s, and nothing came of it for %v or longer", m.Name, after, allowed.Round(time.Second))
	case e.Most > allowed:
		return e.Unclear("it is not certain whether anything came of it in time")
	}
	return e
}
