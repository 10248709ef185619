package fact

import (
	"slices"
	"sort"
)

// cache keeps what was derived of a history while no further event is observed.
type cache struct {
	seq  int64
	kept map[any]any
}

// Cached gives what a derivation gave since the last event, and derives it if there is
// nothing. Keys of types of their own keep packages apart.
func Cached[T any](h *History, key any, derive func() T) T {
	if h.cache.kept == nil || h.cache.seq != h.Seq {
		h.cache = cache{seq: h.Seq, kept: map[any]any{}}
	}
	if v, ok := h.cache.kept[key]; ok {
		return v.(T)
	}
	v := derive()
	h.cache.kept[key] = v
	return v
}

// Where are those of all that fit, in their order.
func Where[T any](all []T, fits func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !fits(t) })
}

// Each are the values of a function of all, in their order.
func Each[T, V any](all []T, of func(T) V) []V {
	out := make([]V, len(all))
	for i := range all {
		out[i] = of(all[i])
	}
	return out
}

// Follow makes the signal that changes at the moment of each of all to what holds then.
func Follow[T any](all []T, when func(T) Moment, holds func(T) bool) Signal {
	var b Builder
	for _, t := range all {
		b.Set(when(t), Of(holds(t)))
	}
	return b.Signal()
}

// From holds from a moment on.
func From(m Moment) Signal {
	var b Builder
	b.Set(m, Yes)
	return b.Signal()
}

// Between holds from a moment on to another one; without that, to the end.
func Between(from Moment, to *Moment) Signal {
	var b Builder
	b.Set(from, Yes)
	if to != nil {
		b.Set(*to, No)
	}
	return b.Signal()
}

// Moments are the moments of stamps that are there.
func (h *History) Moments(stamps ...Stamp) []Moment {
	var out []Moment
	for _, s := range stamps {
		if s.Seq > 0 {
			out = append(out, h.When(s))
		}
	}
	return out
}

// Last is the index of the last of all, in the order of revisions, that etcd made by a
// revision; -1 if there is none.
func Last[T any](all []T, revision int64, of func(T) int64) int {
	return sort.Search(len(all), func(i int) bool { return of(all[i]) > revision }) - 1
}
