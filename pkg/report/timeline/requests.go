package timeline

const (
	// densityParts is into how many parts a run is cut to show where requests are.
	densityParts = 400
	// maxMarks is how many marks a lane has at most: more than any screen has
	// points, and few enough for a page of a few megabytes.
	maxMarks = 10_000
)

// requests are those to one member, or through the load balancer.
type requests struct {
	at     []int64
	errors []mark
}

// take notes a request. Errors are what a client did not want to see from a
// server that is all right: no answer, a 429, a 5xx. That something is not found,
// there already or invalid is an answer like others.
func (r *requests) take(now, seq int64, code int, barrier bool) {
	r.at = append(r.at, now)
	switch {
	case barrier:
		r.errors = append(r.errors, mark{now, markBarrier, seq, 1})
	case code == 0:
		r.errors = append(r.errors, mark{now, markSilent, seq, 1})
	case code == 429 || code >= 500:
		r.errors = append(r.errors, mark{now, markError, seq, 1})
	}
}

func (r *requests) seen() bool { return len(r.at) > 0 }

// failed is whether any of them is an error.
func (r *requests) failed() bool { return len(r.errors) > 0 }

// marks are the errors; where there are too many, those of one style that are
// close together are taken for one.
func (r *requests) marks() []mark {
	out := r.errors
	for window := int64(1000); len(out) > maxMarks; window *= 4 {
		out = thin(out, window)
	}
	return out
}

// thin merges marks of a style that begin within the window of the first of them.
func thin(marks []mark, window int64) []mark {
	var out []mark
	last := map[int]int{}
	for _, m := range marks {
		if i, ok := last[m.Style]; ok && m.At-out[i].At < window {
			out[i].Count += m.Count
			continue
		}
		last[m.Style] = len(out)
		out = append(out, m)
	}
	return out
}

func (r *requests) density(end int64) []int {
	out := make([]int, densityParts)
	for _, at := range r.at {
		out[min(at*densityParts/max(end, 1), densityParts-1)]++
	}
	return out
}
