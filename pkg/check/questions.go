package check

import "container/heap"

// questions wait until etcd's history has reached a revision: a request's
// answer may be recorded before the change in etcd that it made.
type questions struct {
	heap  questionHeap
	asked int64
}

type question struct {
	revision int64
	// order keeps questions about one revision in the order of the asking.
	order int64
	// askedAt is the time of the event that it is about.
	askedAt int64
	owner   *runner
	do      func()
}

// ask has do run as soon as the revision is reached. A question for which
// there is no room any more is lost, which its check then has to admit.
func (q *questions) ask(x question) {
	if len(q.heap) >= maxQuestions {
		x.lose()
		return
	}
	q.asked++
	x.order = q.asked
	heap.Push(&q.heap, x)
}

// answer runs what waited for revisions up to this one.
func (q *questions) answer(w *World, revision int64) {
	for len(q.heap) > 0 && q.heap[0].revision <= revision {
		x := heap.Pop(&q.heap).(question)
		if x.owner == nil {
			x.do()
			continue
		}
		x.owner.answer(w, x.do)
	}
}

// giveUp loses what was asked before the given time and never answered.
func (q *questions) giveUp(before int64) {
	for _, x := range q.heap {
		if x.askedAt < before {
			x.lose()
		}
	}
	q.heap = nil
}

func (x question) lose() {
	if x.owner != nil {
		x.owner.lost++
	}
}

type questionHeap []question

func (h questionHeap) Len() int { return len(h) }
func (h questionHeap) Less(i, j int) bool {
	if h[i].revision != h[j].revision {
		return h[i].revision < h[j].revision
	}
	return h[i].order < h[j].order
}
func (h questionHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *questionHeap) Push(x any)   { *h = append(*h, x.(question)) }
func (h *questionHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = question{}
	*h = old[:len(old)-1]
	return last
}
