package check

// tally counts something for each member, so that one which was never looked at
// is not hidden by the others.
type tally struct {
	members []string
	counts  map[string]int64
}

// add counts once for the member.
func (t *tally) add(w *World, member string) {
	if t.counts == nil {
		t.counts, t.members = map[string]int64{}, w.order
	}
	t.counts[member]++
}

// least is the count of the member that has the fewest.
func (t *tally) least() int64 {
	if len(t.members) == 0 {
		return 0
	}
	least := t.counts[t.members[0]]
	for _, member := range t.members[1:] {
		least = min(least, t.counts[member])
	}
	return least
}

// once remembers which things were counted or complained of.
type once map[string]bool

// first is whether the thing is new.
func (o *once) first(thing string) bool {
	if *o == nil {
		*o = once{}
	}
	if (*o)[thing] {
		return false
	}
	(*o)[thing] = true
	return true
}
