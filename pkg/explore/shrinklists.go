package explore

import (
	"maps"
	"slices"
)

// elements are the changes that take one element out of a list of several: one of the faults that
// accompany a step, one of its members or candidates, one of the keys that a fault is about.
func (d *document) elements() (out []change) {
	for _, root := range []string{"steps", "faults"} {
		eachList(d.scenario[root], []any{root}, func(path []any, n int) {
			if len(path) == 1 {
				return // whole steps are taken away in groups
			}
			for i := n - 1; i >= 0; i-- {
				out = append(out, func(d *document) bool { return removeElement(d.scenario, path, i) && d.tidied() })
			}
		})
	}
	return out
}

// tidied is tidy after a change, which it says there was.
func (d *document) tidied() bool {
	d.tidy()
	return true
}

// eachList visits the lists below a value, in one order.
func eachList(value any, path []any, visit func(path []any, n int)) {
	switch one := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(one)) {
			eachList(one[key], slices.Concat(path, []any{key}), visit)
		}
	case []any:
		visit(path, len(one))
		for i := range one {
			eachList(one[i], slices.Concat(path, []any{i}), visit)
		}
	}
}

// removeElement takes an element out of the list at a path, if the list has others too.
func removeElement(from map[string]any, path []any, i int) bool {
	var parent, value any = nil, from
	for _, key := range path {
		parent = value
		switch at := key.(type) {
		case string:
			group, _ := parent.(map[string]any)
			value = group[at]
		case int:
			list, _ := parent.([]any)
			if at >= len(list) {
				return false
			}
			value = list[at]
		}
	}
	list, _ := value.([]any)
	if i >= len(list) || len(list) < 2 {
		return false
	}
	shorter := slices.Delete(list, i, i+1)
	switch at := path[len(path)-1].(type) {
	case string:
		parent.(map[string]any)[at] = shorter
	case int:
		parent.([]any)[at] = shorter
	}
	return true
}
