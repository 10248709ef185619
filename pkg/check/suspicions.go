package check

import "slices"

// suspicions are breaches that a change may explain whose request was under way:
// its line comes only when it was answered, after lines that show its effect.
type suspicions struct{ open []suspicion }

type suspicion struct {
	// at is when the breach was seen.
	at    int64
	group string
	// version is empty where a foreign group-version cannot be to blame, and member is who
	// showed it.
	version, member string
	owner           *runner
	do              func()
}

// suspect has do run once it is known that nothing of the group was being
// changed at the time; never, if something was. A breach that lasts is suspected
// each time that it is seen, and complained of once: the first time that nothing
// explains it.
func (w *World) suspect(group string, complained *once, id string, do func()) {
	w.suspectVersion("", group, "", complained, id, do)
}

// suspectVersion is suspect of a group-version that a member shows; do never runs if that
// was foreign at the time.
func (w *World) suspectVersion(member, group, version string, complained *once, id string, do func()) {
	if (*complained)[id] {
		return
	}
	w.docs.suspicions.open = append(w.docs.suspicions.open, suspicion{at: w.Now, group: group, version: version, member: member, owner: w.asking, do: func() {
		if complained.first(id) {
			do()
		}
	}})
}

// delay is after how long all that may explain it must have been told.
func (x *suspicion) delay() int64 {
	if x.version != "" {
		return int64(max(underWay, foreignTold))
	}
	return int64(underWay)
}

// weigh runs what is due.
func (s *suspicions) weigh(w *World, all bool) {
	s.open = slices.DeleteFunc(s.open, func(x suspicion) bool {
		if !all && w.Now < x.at+x.delay() {
			return false
		}
		if x.version != "" && w.isForeign(x.member, x.group, x.version, x.at) {
			return true
		}
		if !w.docs.changedAround(x.group, x.at) && x.owner != nil {
			x.owner.answer(w, x.do)
		}
		return true
	})
}

// changedAround is whether a change of the group was under way at the time, or
// is one whose outcome nobody knows.
func (d *documents) changedAround(group string, when int64) bool {
	for _, one := range d.wants {
		under := func(span [2]int64) bool { return span[0] <= when && when <= span[1] }
		if one.group == group && (one.until == 0 || slices.ContainsFunc(one.spans, under)) {
			return true
		}
	}
	return false
}
