package election

// cache keeps derived facts while no further event was observed.
type cache struct {
	seq  int64
	kept map[string]any
}

func cached[T any](f *Facts, key string, derive func() T) T {
	if f.cache.seq != f.Seq || f.cache.kept == nil {
		f.cache = cache{seq: f.Seq, kept: map[string]any{}}
	}
	if v, ok := f.cache.kept[key]; ok {
		return v.(T)
	}
	v := derive()
	f.cache.kept[key] = v
	return v
}
