package fact

// Stretch is a stretch of revisions: from one change in etcd on to another one.
type Stretch struct {
	Began Stamp
	// Ended is nil while it lasts.
	Ended *Stamp
}

// During is whether any of it is after one revision, up to another one.
func (s Stretch) During(after, until int64) bool {
	return s.Began.Revision <= until && (s.Ended == nil || s.Ended.Revision > after)
}

// Through is whether it lasts all the time between two revisions.
func (s Stretch) Through(from, to int64) bool {
	return s.Began.Revision <= from && (s.Ended == nil || s.Ended.Revision > to)
}

// Stretches are those in which the value is there and fits, in order.
func (v *Values[T]) Stretches(fits func(T) bool) []Stretch {
	var out []Stretch
	lasts := false
	for i := range v.all {
		c := &v.all[i]
		switch holds := c.There && fits(c.Is); {
		case holds && !lasts:
			out, lasts = append(out, Stretch{Began: c.Stamp}), true
		case !holds && lasts:
			out[len(out)-1].Ended, lasts = &c.Stamp, false
		}
	}
	return out
}

// Gaps are the stretches between others, with that before the first one, which begins with
// the history, and that after the last one.
func Gaps(all []Stretch) []Stretch {
	out := []Stretch{{}}
	for i := range all {
		out[len(out)-1].Ended = &all[i].Began
		if all[i].Ended == nil {
			return out
		}
		out = append(out, Stretch{Began: *all[i].Ended})
	}
	return out
}

// Overlaps are the stretches in which one of each of two lists lasts, in order.
func Overlaps(a, b []Stretch) []Stretch {
	var out []Stretch
	for _, x := range a {
		for _, y := range b {
			began, ended := x.Began, x.Ended
			if y.Began.Revision > began.Revision {
				began = y.Began
			}
			if ended == nil || y.Ended != nil && y.Ended.Revision < ended.Revision {
				ended = y.Ended
			}
			if ended == nil || ended.Revision > began.Revision {
				out = append(out, Stretch{began, ended})
			}
		}
	}
	return out
}

// Lasting is while any of the stretches lasts.
func (h *History) Lasting(all []Stretch) Signal {
	var b Builder
	for _, s := range all {
		b.Set(h.When(s.Began), Yes)
		if s.Ended != nil {
			b.Set(h.When(*s.Ended), No)
		}
	}
	return b.Signal()
}
