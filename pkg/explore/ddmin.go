package explore

// ddmin finds a part of the elements that still holds, of which no single element can be left
// out: it tries ever smaller parts (Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input"). holds is asked for parts in the order of the elements; an error ends
// the search with what was found until then.
func ddmin[E any](elements []E, holds func(part []E) (bool, error)) ([]E, error) {
	parts := 2
	for len(elements) > 0 {
		smaller, found, err := without(elements, parts, holds)
		if err != nil {
			return elements, err
		}
		switch {
		case found:
			elements, parts = smaller, max(parts-1, 2)
		case parts >= len(elements):
			return elements, nil
		default:
			parts = min(2*parts, len(elements))
		}
	}
	return elements, nil
}

// without leaves out one of so many parts after the other, and gives the first rest that holds.
func without[E any](elements []E, parts int, holds func([]E) (bool, error)) (rest []E, found bool, err error) {
	parts = min(parts, len(elements))
	for i := range parts {
		from, to := i*len(elements)/parts, (i+1)*len(elements)/parts
		rest := append(append([]E{}, elements[:from]...), elements[to:]...)
		ok, err := holds(rest)
		if ok || err != nil {
			return rest, ok, err
		}
	}
	return elements, false, nil
}
