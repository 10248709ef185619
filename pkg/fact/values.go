package fact

// Values is a value over the revisions of etcd, such as what an object says: one from each
// change on to the next.
type Values[T any] struct{ all []Value[T] }

// Value is a value from a revision on.
type Value[T any] struct {
	Stamp
	Is T
	// There is false where the change is a deletion; Is is the zero value then.
	There bool
	// Made is the revision that created what is there.
	Made int64
}

// Set takes the next value in.
func (v *Values[T]) Set(s Stamp, is T) {
	made := s.Revision
	if last := v.Last(); last != nil && last.There {
		made = last.Made
	}
	v.all = append(v.all, Value[T]{Stamp: s, Is: is, There: true, Made: made})
}

// Delete takes a deletion in; one of what is not there changes nothing.
func (v *Values[T]) Delete(s Stamp) {
	if last := v.Last(); last != nil && last.There {
		v.all = append(v.all, Value[T]{Stamp: s})
	}
}

// All are all changes, in the order of revisions.
func (v *Values[T]) All() []Value[T] { return v.all }

// Last is the last change; nil if there is none.
func (v *Values[T]) Last() *Value[T] { return v.nth(len(v.all) - 1) }

// ChangeBy is the last change up to a revision, a deletion too; nil if there is none.
func (v *Values[T]) ChangeBy(revision int64) *Value[T] {
	return v.nth(Last(v.all, revision, func(c Value[T]) int64 { return c.Revision }))
}

// At is the value at a revision; nil where it is not there.
func (v *Values[T]) At(revision int64) *Value[T] {
	if c := v.ChangeBy(revision); c != nil && c.There {
		return c
	}
	return nil
}

// In are the changes after one revision, up to another one.
func (v *Values[T]) In(after, until int64) []Value[T] {
	of := func(c Value[T]) int64 { return c.Revision }
	return v.all[Last(v.all, after, of)+1 : Last(v.all, max(after, until), of)+1]
}

// While is while the value is there and fits.
func (v *Values[T]) While(h *History, fits func(T) bool) Signal {
	return Follow(v.all, func(c Value[T]) Moment { return h.When(c.Stamp) }, func(c Value[T]) bool { return c.There && fits(c.Is) })
}

func (v *Values[T]) nth(i int) *Value[T] {
	if i < 0 {
		return nil
	}
	return &v.all[i]
}
